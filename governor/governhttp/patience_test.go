package governhttp

import (
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// parts is a body that arrives in parts with pauses between them.
type parts struct {
	r     *http.Request
	size  int
	pause time.Duration
	left  int
}

func (p *parts) Read(b []byte) (int, error) {
	if p.left == 0 {
		return 0, io.EOF
	}
	select {
	case <-time.After(p.pause):
	case <-p.r.Context().Done():
		return 0, p.r.Context().Err()
	}
	n := min(len(b), p.size, p.left)
	p.left -= n
	return n, nil
}

func (*parts) Close() error { return nil }

// TestSlowBodyIsReadToItsEnd reads a body that takes many timeouts and makes progress in each. It abandons one
// that arrives in single bytes.
func TestSlowBodyIsReadToItsEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, body := range []struct {
			size  int
			pause time.Duration
			want  FailureKind
			took  time.Duration
		}{
			{1 << 10, 100 * time.Millisecond, "", 1024 * 100 * time.Millisecond}, // ten kilobytes a second, for two timeouts
			{1 << 10, time.Second, Timeout, DefaultTimeout},                      // one
			{1, time.Second, Timeout, DefaultTimeout},
		} {
			c, err := New(
				Options{
					BaseURL: "http://example.org",
					Sender:  plain(),
					Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
						resp := reply(200, "", "")
						resp.Body = &parts{r, body.size, body.pause, 1 << 20}
						return resp, nil
					}),
				},
			)
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			resp, err := c.Get(t.Context(), "", nil)
			took := time.Since(began)
			switch {
			case body.want != "" && (kindOf(t, err) != body.want || took != body.took):
				t.Errorf("%+v ended as %v after %v", body, err, took)
			case body.want == "" && (err != nil || len(resp.Body) != 1<<20 || took < body.took):
				t.Errorf("%+v ended as %v after %v", body, err, took)
			}
		}
	})
}

// TestPatientRequest waits ten timeouts where that was asked for, once for each silence.
func TestPatientRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var delay time.Duration
		sender := NewSender(
			governor.New("test", unpaced, unbroken, attempts(2), func(c *governor.Config) { c.Backoff, c.MaxBackoff = 1, 1 }),
			SenderOptions{},
		)
		c, err := New(
			Options{
				BaseURL: "http://example.org",
				Sender:  sender,
				Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
					select {
					case <-time.After(delay):
						return reply(200, "", "late"), nil
					case <-r.Context().Done():
						return nil, r.Context().Err()
					}
				}),
			},
		)
		if err != nil {
			t.Fatal(err)
		}
		const bound = patientTimeouts * DefaultTimeout
		for _, ask := range []struct {
			what    string
			delay   time.Duration
			patient bool
			good    bool
			took    time.Duration
		}{
			{"impatient", bound - 1, false, false, 2 * DefaultTimeout},
			{"patient", bound - 1, true, true, bound - 1},
			{"patient again", bound - 1, true, true, bound - 1},
			{"silent", 2 * bound, true, false, bound + DefaultTimeout},
			{"still silent", bound - 1, true, false, 2 * DefaultTimeout},
			{"an answer to another question", 0, false, true, 0},
			{"still silent on this one", bound - 1, true, false, 2 * DefaultTimeout},
			{"back", DefaultTimeout - 1, true, true, DefaultTimeout - 1},
			{"slow as before", bound - 1, true, true, bound - 1},
		} {
			delay = ask.delay
			began := time.Now()
			_, err := c.Do(t.Context(), Request{Patient: ask.patient})
			if took := time.Since(began).
				Truncate(time.Second); (err == nil) != ask.good ||
				took != ask.took.Truncate(time.Second) {
				t.Errorf("%s: %v after %v, want %v", ask.what, err, took, ask.took)
			}
		}
	})
}
