package wire

import (
	"strings"
	"testing"
	"time"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"": 0, "0": 0, "1": time.Second, " 30 ": 30 * time.Second, "-5": 0, "1.5": 0, "soon": 0,
		"9223372036854775807": longestRetryAfter, "99999999999999999999": 0,
		"Sun, 01 Mar 2026 12:00:45 GMT": 45 * time.Second, "Sun, 01 Mar 2026 11:00:00 GMT": 0,
		"Fri, 01 Mar 2126 12:00:00 GMT": longestRetryAfter,
	} {
		if got := retryAfter(header, now); got != want {
			t.Errorf("Retry-After %q is %v, want %v", header, got, want)
		}
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, seed := range []string{"1", "Sun, 01 Mar 2026 12:00:45 GMT", "-1", "1e3"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		if got := retryAfter(header, time.Unix(0, 0)); got < 0 || got > longestRetryAfter {
			t.Fatalf("Retry-After %q is %v", header, got)
		}
	})
}

// Whatever a server writes, its code is a plain word or none.
func FuzzErrorCode(f *testing.F) {
	for _, seed := range []string{`{"error":{"code":"device_batch_conflict"}}`, `{"error":"x"}`,
		`{"error":{"code":"A b"}}`, `[`, ``, `{"error":{"code":1}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		code, ours := errorCode(body)
		if len(code) > longestCode || strings.ContainsFunc(code, func(r rune) bool {
			return r != '_' && (r < 'a' || r > 'z') && (r < '0' || r > '9')
		}) || ours && code == "" {
			t.Fatalf("%q gives the code %q", body, code)
		}
	})
}
