package governhttp

import (
	"context"
	"io"
	"time"
)

const (
	// patientTimeouts is how many timeouts a patient request waits for the beginning of its answer.
	patientTimeouts = 10
	// advance is how much of a body must arrive within a timeout: a line of six kilobytes a
	// second bears it at the default, and who drips bytes for ever is given up.
	advance = 256 << 10
)

// patience is the clock of one attempt, which it ends when nothing has arrived for too long. It
// belongs to one goroutine.
type patience struct {
	*time.Timer
	timeout time.Duration
	body    io.Reader
	got     int // bytes of the body since the clock was set
}

// patience lets the clock of an attempt run.
func (c *Client) patience(patient bool, end context.CancelCauseFunc) *patience {
	first := c.opt.Timeout
	if patient && !c.mute.Load() {
		first *= patientTimeouts
	}
	return &patience{Timer: time.AfterFunc(first, func() { end(context.DeadlineExceeded) }), timeout: c.opt.Timeout}
}

// extend gives a timeout more.
func (p *patience) extend() {
	p.got = 0
	p.Reset(p.timeout)
}

// watch reads the body and extends the time with each part of it that has arrived.
func (p *patience) watch(body io.Reader) io.Reader {
	p.body = body
	return p
}

func (p *patience) Read(b []byte) (int, error) {
	n, err := p.body.Read(b)
	if p.got += n; p.got >= advance {
		p.extend()
	}
	return n, err
}
