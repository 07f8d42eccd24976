package governor_test

import (
	"errors"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// noon is when the clocks of these tests start.
var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// failer is what tests and property checks have in common.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// client calls one governor with a clock that only it advances.
type client struct {
	t   failer
	g   *governor.Governor
	now time.Time
}

func newClient(t failer, adjust ...func(*governor.Config)) *client {
	return &client{t: t, g: governor.New("acme", adjust...), now: noon}
}

// admit waits until the call is admitted and returns how long that took.
func (c *client) admit(call *governor.Call) time.Duration {
	c.t.Helper()
	from := c.now
	for range 100 {
		wait, err := call.Next(c.now)
		if err != nil {
			c.t.Fatalf("denied after %s: %v", c.now.Sub(from), err)
		}
		if wait == 0 {
			return c.now.Sub(from)
		}
		c.now = c.now.Add(wait)
	}
	c.t.Fatal("asked to wait 100 times")
	return 0
}

// send admits a new request and answers it at once. It returns the wait.
func (c *client) send(kind governor.Kind) time.Duration {
	c.t.Helper()
	call := c.g.Call()
	waited := c.admit(&call)
	call.Observe(c.now, governor.Outcome{Kind: kind, Sent: c.now})
	return waited
}

// interval returns the governor's interval.
func (c *client) interval() time.Duration {
	c.t.Helper()
	rate, ok := c.g.Rate()
	if !ok {
		c.t.Fatal("no rate")
	}
	return rate.Interval
}

// denial returns the denial of a new request, or nil if it would be admitted or wait.
func (c *client) denial() *governor.DeniedError {
	c.t.Helper()
	call := c.g.Call()
	wait, err := call.Next(c.now)
	var d *governor.DeniedError
	if err != nil && !errors.As(err, &d) {
		c.t.Fatalf("not a denial: %v", err)
	}
	if err == nil && wait == 0 {
		call.Withdraw()
	}
	return d
}

// unpaced turns pacing off, so that a test sees one mechanism.
func unpaced(c *governor.Config) { c.Discovery = 0 }

// unbroken keeps the circuit closed.
func unbroken(c *governor.Config) { c.Breaker.Off = true }

// patient sets no maximum wait.
func patient(c *governor.Config) { c.MaxWait = 0 }
