package connectorkit

import (
	"context"
	"strconv"
	"time"

	"pdpp/governor"
)

// defaultChunk is the least number of gaps written one by one when a cap is set
// and no chunk is.
const defaultChunk = 50

// caps are the owner's bounds on one run; zero means none.
type caps struct {
	fetches   int           // requests for details
	wallClock time.Duration // of the details, from the first one on (RT-16)
	whole     time.Duration // of the run, from its start, lists included
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
		whole:     time.Duration(min(positive("_MAX_WHOLE_RUN_WALL_CLOCK_MS"), longest)) * time.Millisecond,
		chunk:     positive("_MAX_TAIL_DEFERRAL_GAPS_PER_RUN"),
	}
	if env(prefix+"_MAX_TAIL_DEFERRAL_GAPS_PER_RUN") == "" && c.any() {
		c.chunk = max(c.fetches, defaultChunk)
	}
	return c
}

// any reports whether the owner bounds the run.
func (c caps) any() bool { return c.fetches > 0 || c.wallClock > 0 || c.whole > 0 }

// listPage reads one page of a list, unless the run's time is up. A request cap
// bounds details alone: without its list a run cannot say what is missing.
func listPage[T any](ctx context.Context, r *run, read func() (T, error)) (page T, err error) {
	if r.late() {
		return page, &Error{Class: Unavailable, stopped: governor.MaxWallClock}
	}
	return patiently(ctx, r, read)
}

// late reports whether the owner's longest run, or the time for details, is over. It is asked between
// requests: one that is under way is finished.
func (r *run) late() bool {
	left, bounded := r.budget.Left(r.p.Now())
	return bounded && left <= 0
}

// bill is what one detail costs of the run's cap. The unit is the request that
// was really sent, successful or not, repetitions included: that is what the
// provider counts (PB-01).
type bill struct {
	r    *run
	from int64 // requests sent before
	paid int64
}

func (r *run) openBill() *bill { return &bill{r: r, from: r.sent.Load()} }

// payFor spends what was sent since the last time, and no less than the details that
// it brought: a connector whose requests the kit does not see is bounded too, and one
// that asks for many things at once gets no more of them.
func (b *bill) payFor(details int) {
	for due := max(int64(details), b.r.sent.Load()-b.from); b.paid < due; b.paid++ {
		b.r.budget.Spend()
	}
}

// capped reports whether another detail would exceed a cap. The first time it is asked, the
// time for details begins. It is asked between details: one that is under way is finished.
// All passes of a run share one budget.
func (r *run) capped() bool {
	r.budget.BeginDetails(r.p.Now())
	return r.spent()
}

// spent reports whether a cap is reached.
func (r *run) spent() bool {
	return r.budget.Exhausted(r.p.Now()) != ""
}

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
