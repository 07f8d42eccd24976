package governhttp

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// Only 429, 408 and 5xx, and a 403 that is a limit, are worth a retry.
func TestMeaning(t *testing.T) {
	t.Parallel()
	claim(t, "PB-05")
	for _, c := range []struct {
		status  int
		headers string
		want    governor.Kind
	}{
		{200, "", governor.Success},
		{204, "X-RateLimit-Remaining: 0\nX-RateLimit-Reset: 30", governor.Success},
		{299, "", governor.Success},
		{301, "", governor.Rejected},
		{304, "", governor.Rejected},
		{400, "", governor.Rejected},
		{401, "Retry-After: 3", governor.Rejected},
		{404, "", governor.Rejected},
		{408, "", governor.Failed},
		{422, "", governor.Rejected},
		{429, "", governor.Throttled},
		{429, "Retry-After: 3", governor.Throttled},
		{500, "", governor.Failed},
		{502, "", governor.Failed},
		{503, "", governor.Throttled},
		{504, "", governor.Failed},
		{599, "", governor.Failed},
		// 403 has several meanings. GitHub distinguishes them by headers.
		{403, "", governor.Rejected},
		{403, "X-RateLimit-Remaining: 12\nX-RateLimit-Reset: 30", governor.Rejected},
		{403, "X-RateLimit-Remaining: 0\nX-RateLimit-Reset: 30", governor.Throttled},
		{403, "X-RateLimit-Remaining: 12\nX-RateLimit-Reset: 30\nRetry-After: 60", governor.Throttled},
		{403, "Retry-After: 0", governor.Throttled},
		{403, "Retry-After: soon", governor.Rejected},
	} {
		if got := Meaning(newResponse(c.status, answer(c.headers), nil, noon)); got != c.want {
			t.Errorf("%d with %q means %d, want %d", c.status, c.headers, got, c.want)
		}
	}
}

// kinded is a connector's error that decides the kind.
type kinded governor.Kind

func (k kinded) Error() string       { return "kinded" }
func (k kinded) Kind() governor.Kind { return governor.Kind(k) }

func TestClassificationDecidesTheKind(t *testing.T) {
	t.Parallel()
	bare := errors.New("bare")
	for _, c := range []struct {
		status int
		err    error
		want   governor.Kind
	}{
		{200, nil, governor.Success},
		{429, nil, governor.Success}, // the connector accepts it explicitly
		{200, bare, governor.Rejected},
		{404, bare, governor.Rejected},
		{429, bare, governor.Throttled},
		{500, bare, governor.Failed},
		{200, kinded(governor.Throttled), governor.Throttled}, // an error in a 200, as Slack has them
		{403, fmt.Errorf("wrapped: %w", kinded(governor.Throttled)), governor.Throttled},
		{500, kinded(governor.Rejected), governor.Rejected},
		{503, kinded(governor.Failed), governor.Failed},
	} {
		client := &Client{opt: Options{Classify: func(*Response) error { return c.err }}}
		o, err := client.classify(&Response{Status: c.status}, nil)
		if o.Kind != c.want || err != c.err {
			t.Errorf("%d classified as %v: kind %d with %v, want %d", c.status, c.err, o.Kind, err, c.want)
		}
	}
}

// Some providers put the wait into the body, which only the connector can read.
func TestClassifyMayTellTheWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(unpaced)
		c, err := New(Options{
			BaseURL: "https://api.lumen.example", Sender: r.Sender,
			Transport: replies(func(n int, _ *http.Request) *http.Response { return reply(200, "", fmt.Sprint(n)) }).transport(),
			Classify: func(a *Response) error {
				if string(a.Body) == "1" {
					a.RetryAfter, a.HasRetryAfter = 11*time.Second, true
					return kinded(governor.Throttled)
				}
				return nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		resp, err := c.Get(t.Context(), "", nil)
		if err != nil || string(resp.Body) != "2" {
			t.Fatalf("answer %+v, %v", resp, err)
		}
		if got := r.waits(t)[1]; got != (Wait{Retry, 11 * time.Second, true}) {
			t.Errorf("wait %+v", got)
		}
	})
}

// A spent quota holds the next request until it is full again.
func TestSpentQuotaIsAGate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		c := clientOf(t, r.Sender, func(n int, _ *http.Request) *http.Response {
			if n == 1 {
				return reply(200, "X-RateLimit-Limit: 60\nX-RateLimit-Remaining: 0\nX-RateLimit-Reset: 90", "")
			}
			return reply(200, "", "")
		})
		for range 2 {
			if _, err := c.Get(t.Context(), "", nil); err != nil {
				t.Fatal(err)
			}
		}
		if got := r.waits(t)[1]; got != (Wait{Preflight, 90 * time.Second, true}) {
			t.Errorf("wait %+v, want the 90s of the quota", got)
		}
	})
}

func TestUnusableAnswersAreNotRepeatedInVain(t *testing.T) {
	t.Parallel()
	for kind, want := range map[FailureKind]governor.Kind{
		Timeout: governor.Failed, Network: governor.Failed, TooLarge: governor.Rejected, Redirected: governor.Rejected,
	} {
		if got := failureKind(&Error{Kind: kind, err: errProvider}); got != want {
			t.Errorf("%s is of kind %d, want %d", kind, got, want)
		}
	}
}
