package governhttp

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// answer reads "Name: value" lines.
func answer(lines string) http.Header {
	h := http.Header{}
	for line := range strings.SplitSeq(lines, "\n") {
		if name, value, ok := strings.Cut(line, ":"); ok {
			h.Add(strings.TrimSpace(name), strings.TrimSpace(value))
		}
	}
	return h
}

// noon is the time of the responses in these tests, 1714564800.
var noon = time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)

func TestReadQuota(t *testing.T) {
	t.Parallel()
	known := func(limit, remaining int, reset time.Duration) governor.Quota {
		return governor.Quota{Known: true, Limit: limit, Remaining: remaining, Reset: reset}
	}
	for _, c := range []struct {
		name, headers string
		want          governor.Quota
	}{
		{"nothing", "Content-Type: text/plain", governor.Quota{}},
		{"github", "x-ratelimit-limit: 5000\nx-ratelimit-remaining: 4999\nx-ratelimit-used: 1\n" +
			"x-ratelimit-reset: 1714568400\nx-ratelimit-resource: core",
			known(5000, 4999, time.Hour)},
		{"github, spent", "x-ratelimit-limit: 5000\nx-ratelimit-remaining: 0\nx-ratelimit-used: 5001\n" +
			"x-ratelimit-reset: 1714564890",
			known(5000, 0, 90*time.Second)},
		{"github, its clock a minute ahead", "Date: Wed, 01 May 2024 12:01:00 GMT\nx-ratelimit-limit: 60\n" +
			"x-ratelimit-remaining: 0\nx-ratelimit-reset: 1714564890",
			known(60, 0, 30*time.Second)},
		{"reset has passed", "x-ratelimit-limit: 60\nx-ratelimit-remaining: 0\nx-ratelimit-reset: 1714564700",
			known(60, 0, 0)},
		{"reddit", "X-Ratelimit-Remaining: 99.0\nX-Ratelimit-Used: 1\nX-Ratelimit-Reset: 412", known(0, 99, 412*time.Second)},
		{"reddit, half a request", "X-Ratelimit-Remaining: 0.5\nX-Ratelimit-Used: 99\nX-Ratelimit-Reset: 3",
			known(0, 0, 3*time.Second)},
		{"strava, the quarter hour binds", "Date: Wed, 01 May 2024 12:05:00 GMT\nX-RateLimit-Limit: 200,2000\n" +
			"X-RateLimit-Usage: 12,340", known(200, 188, 10*time.Minute)},
		{"strava, the day is spent", "X-RateLimit-Limit: 200,2000\nX-RateLimit-Usage: 12,2001", known(2000, 0, 12*time.Hour)},
		{"strava, both are spent", "X-RateLimit-Limit: 200,2000\nX-RateLimit-Usage: 200,2000", known(2000, 0, 12*time.Hour)},
		{"strava, reading binds", "Date: Wed, 01 May 2024 12:14:59 GMT\nX-RateLimit-Limit: 200,2000\n" +
			"X-RateLimit-Usage: 99,340\nX-ReadRateLimit-Limit: 100,1000\nX-ReadRateLimit-Usage: 99,340",
			known(100, 1, time.Second)},
		{"pocket", "X-Limit-User-Limit: 320\nX-Limit-User-Remaining: 17\nX-Limit-User-Reset: 1200\n" +
			"X-Limit-Key-Limit: 10000\nX-Limit-Key-Remaining: 9000\nX-Limit-Key-Reset: 60",
			known(320, 17, 20*time.Minute)},
		{"ynab: a count without an end binds nothing", "X-Rate-Limit: 36/200", governor.Quota{}},
		{"notion, slack and spotify tell the wait alone", "Retry-After: 30", governor.Quota{}},
		{"oura tells nothing", "Content-Type: application/json", governor.Quota{}},
		{"dashes", "X-Rate-Limit-Limit: 900\nX-Rate-Limit-Remaining: 899\nX-Rate-Limit-Reset: 1714565700",
			known(900, 899, 15*time.Minute)},
		{"milliseconds", "X-RateLimit-Limit: 10\nX-RateLimit-Remaining: 0\nX-RateLimit-Reset: 1714564800250",
			known(10, 0, 250*time.Millisecond)},
		{"seconds with decimals", "X-RateLimit-Limit: 10\nX-RateLimit-Remaining: 0\nX-RateLimit-Reset: 1714564801.5",
			known(10, 0, 1500*time.Millisecond)},
		{"reset after comes first", "X-RateLimit-Limit: 5\nX-RateLimit-Remaining: 0\nX-RateLimit-Reset: 1714564802\n" +
			"X-RateLimit-Reset-After: 1.25", known(5, 0, 1250*time.Millisecond)},
		{"http date", "X-RateLimit-Limit: 5\nX-RateLimit-Remaining: 0\nX-RateLimit-Reset: Wed, 01 May 2024 12:00:30 GMT",
			known(5, 0, 30*time.Second)},
		{"rfc 3339", "X-RateLimit-Limit: 5\nX-RateLimit-Remaining: 0\nX-RateLimit-Reset: 2024-05-01T14:00:30+02:00",
			known(5, 0, 30*time.Second)},
		{"a year at most", "X-RateLimit-Remaining: 0\nX-RateLimit-Reset: 999999999", known(0, 0, 365*24*time.Hour)},
		{"no reset", "X-RateLimit-Limit: 5\nX-RateLimit-Remaining: 0", known(5, 0, 0)},
		{"a limit alone", "X-RateLimit-Limit: 5\nX-RateLimit-Reset: 30", governor.Quota{}},
		{"no numbers", "X-RateLimit-Limit: many\nX-RateLimit-Remaining: some\nX-RateLimit-Reset: soon", governor.Quota{}},
		{"negative", "X-RateLimit-Remaining: -1\nX-RateLimit-Reset: 30", governor.Quota{}},
		{"draft 3, with the policy in the limit", "RateLimit-Limit: 10, 10;w=1, 50;w=60\nRateLimit-Remaining: 9\n" +
			"RateLimit-Reset: 1", known(10, 9, time.Second)},
		{"draft 7", "RateLimit: limit=100, remaining=10, reset=30\nRateLimit-Policy: 100;w=60",
			known(100, 10, 30*time.Second)},
		{"draft 8", "RateLimit: \"default\";r=50;t=30\nRateLimit-Policy: \"default\";q=100;w=60",
			known(100, 50, 30*time.Second)},
		{"draft 8, two policies", "RateLimit-Policy: \"burst\";q=100;w=60,\"daily\";q=1000;w=86400\n" +
			"RateLimit: \"burst\";r=40;t=30, \"daily\";r=2;t=3600",
			known(1000, 2, time.Hour)},
		{"draft 8, both spent", "RateLimit-Policy: \"burst\";q=100;w=60,\"daily\";q=1000;w=86400\n" +
			"RateLimit: \"daily\";r=0;t=3600\nRateLimit: \"burst\";r=0;t=30",
			known(1000, 0, time.Hour)},
		{"draft 8, a comma in the name", "RateLimit: \"a,b;c\";r=5;t=9\nRateLimit-Policy: \"a,b;c\";q=7;w=60",
			known(7, 5, 9*time.Second)},
		{"draft 8, the window stands in for the end", "RateLimit: \"m\";r=0\nRateLimit-Policy: \"m\";q=7;w=60",
			known(7, 0, time.Minute)},
		{"draft 8, of bytes", "RateLimit: \"b\";r=0;t=9\nRateLimit-Policy: \"b\";q=7000;w=60;qu=\"content-bytes\"",
			governor.Quota{}},
		{"two families, one quota", "X-RateLimit-Limit: 10\nX-RateLimit-Remaining: 3\nRateLimit: \"d\";r=3;t=20",
			known(0, 3, 20*time.Second)},
	} {
		if got := ReadQuota(answer(c.headers), noon); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// The answer's Date is cut to its second and the clock here runs on: what is
// measured from either must end at the provider's instant or after it.
func TestResetIsNeverTooEarly(t *testing.T) {
	t.Parallel()
	for ms := range 1000 {
		left := time.Duration(ms) * time.Millisecond
		now := noon.Add(left)
		dated := answer("X-RateLimit-Remaining: 0\nX-RateLimit-Reset: 1714564805\nDate: " + now.Format(http.TimeFormat))
		if got := ReadQuota(dated, now); got.Reset < 5*time.Second-left || got.Reset > 5*time.Second {
			t.Fatalf("%s after the second: %s", left, got.Reset)
		}
		bare := answer("X-RateLimit-Remaining: 0\nX-RateLimit-Reset: 1714564805")
		if got := ReadQuota(bare, now); got.Reset != 5*time.Second-left {
			t.Fatalf("%s after the second, without a Date: %s", left, got.Reset)
		}
	}
}

func FuzzReadQuota(f *testing.F) {
	f.Add("5000", "0", "1", "1714568400", "", "", "")
	f.Add("200,2000", "", "12,2001", "", "", "", "")
	f.Add("", "", "", "", `"a,b";r=1;t=2`, `"a,b";q=5;w=60;qu="requests"`, "Wed, 01 May 2024 12:00:00 GMT")
	f.Add("10, 10;w=1", "9", ",", "Wed, 01 May 2024 12:00:00 GMT", "limit=1, remaining=0, reset=9e99", ";;,=", "x")
	f.Add("1,2,3", "1,,3", "1,2", "1,2,3", `";`, `;"`, "")
	f.Add("1,2,3", "1,2,3", "1,2", "", "", "", "")
	f.Fuzz(func(t *testing.T, limit, remaining, used, reset, field, policy, date string) {
		h := http.Header{}
		for name, value := range map[string]string{
			"X-RateLimit-Limit": limit, "X-RateLimit-Remaining": remaining, "X-RateLimit-Usage": used,
			"X-RateLimit-Reset": reset,
			"RateLimit":         field, "RateLimit-Policy": policy, "Date": date,
		} {
			if value != "" {
				h.Set(name, value)
			}
		}
		q := ReadQuota(h, noon)
		if q.Remaining < 0 || q.Limit < 0 || q.Reset < 0 || q.Reset > longestHeaderWait ||
			!q.Known && q != (governor.Quota{}) {
			t.Errorf("%v: %+v", h, q)
		}
	})
}
