package governhttp

import (
	"context"
	"io"
	"time"
)

const (
	// patientTimeouts is how many timeouts a patient request waits for the beginning of its response.
	patientTimeouts = 10
	// progressBytes is how much of a body must arrive within a timeout. Six kilobytes per second are enough with
	// the default timeout. A provider that sends single bytes forever times out.
	progressBytes = 256 << 10
)

// progressTimer ends an attempt when nothing has arrived for too long. It belongs to one goroutine.
type progressTimer struct {
	*time.Timer
	timeout time.Duration
	body    io.Reader
	got     int // bytes of the body since the last reset
}

// startTimer starts the timer of an attempt.
func (c *Client) startTimer(patient bool, end context.CancelCauseFunc) *progressTimer {
	first := c.opt.Timeout
	if patient && !c.patientTimedOut.Load() {
		first *= patientTimeouts
	}
	return &progressTimer{Timer: time.AfterFunc(first, func() { end(context.DeadlineExceeded) }), timeout: c.opt.Timeout}
}

// extend restarts the timeout.
func (p *progressTimer) extend() {
	p.got = 0
	p.Reset(p.timeout)
}

// watch returns a reader of the body that extends the timeout with its progress.
func (p *progressTimer) watch(body io.Reader) io.Reader {
	p.body = body
	return p
}

func (p *progressTimer) Read(b []byte) (int, error) {
	n, err := p.body.Read(b)
	if p.got += n; p.got >= progressBytes {
		p.extend()
	}
	return n, err
}
