package connectorkit

import (
	"strconv"
	"time"
)

// defaultChunk is the least number of gaps written one by one when a cap is set
// and no chunk is.
const defaultChunk = 50

// caps are the owner's bounds on the detail work of one run; zero means none.
type caps struct {
	fetches   int
	wallClock time.Duration
	chunk     int
}

// readCaps reads the owner's variables. What is not a positive number is no cap.
// A chunk that is set to anything else is off; one that is not set follows from
// the caps, so that an owner who bounds a run also gets a bounded tail.
func readCaps(env func(string) string, prefix string) caps {
	positive := func(name string) int {
		n, err := strconv.Atoi(env(prefix + name))
		if err != nil {
			return 0
		}
		return max(0, n)
	}
	const longest = int(365 * 24 * time.Hour / time.Millisecond)
	c := caps{
		fetches:   positive("_MAX_DETAIL_FETCHES_PER_RUN"),
		wallClock: time.Duration(min(positive("_MAX_RUN_WALL_CLOCK_MS"), longest)) * time.Millisecond,
		chunk:     positive("_MAX_TAIL_DEFERRAL_GAPS_PER_RUN"),
	}
	if env(prefix+"_MAX_TAIL_DEFERRAL_GAPS_PER_RUN") == "" && (c.fetches > 0 || c.wallClock > 0) {
		c.chunk = max(c.fetches, defaultChunk)
	}
	return c
}

// budget is what is left of the caps. All passes of a run share one. Its unit is
// the attempt, successful or not: that is what the provider counts (PB-01).
type budget struct {
	caps
	now      func() time.Time
	attempts int
	began    time.Time
}

func newBudget(c caps, now func() time.Time) *budget { return &budget{caps: c, now: now} }

// spent reports whether another attempt would exceed a cap. It is asked between
// attempts only, and the first question starts the clock: a fetch in flight is
// never interrupted, and starting up costs nothing.
func (b *budget) spent() bool {
	if b.fetches > 0 && b.attempts >= b.fetches {
		return true
	}
	if b.wallClock <= 0 {
		return false
	}
	now := b.now()
	if b.began.IsZero() {
		b.began = now
	}
	return now.Sub(b.began) >= b.wallClock
}

// attempt counts one outbound fetch.
func (b *budget) attempt() { b.attempts++ }

// tail bounds how many gaps a run writes one by one once it has stopped
// fetching. All passes of a run share one.
type tail struct {
	bounded bool
	left    int
}

func newTail(c caps) *tail { return &tail{bounded: c.chunk > 0, left: c.chunk} }

// full reports whether the next gap must go into the backlog.
func (t *tail) full() bool { return t.bounded && t.left <= 0 }

func (t *tail) take() { t.left-- }
