package connectorkit

import (
	"context"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// defaultChunk is the minimum number of single gaps if a cap is set and no chunk is.
const defaultChunk = 50

// ownerCaps are the owner's limits for one run. Zero means none.
type ownerCaps struct {
	fetches   int           // requests for details
	wallClock time.Duration // of the details, from the first one on (RT-16)
	whole     time.Duration // of the run, from its start, lists included
	chunk     int
}

// readCaps reads the owner's variables. A value that is not a positive number sets no cap. A chunk set to
// anything else is off. A chunk that is not set follows from the caps, so that a capped run also gets a bounded
// tail.
func readCaps(env func(string) string, prefix string) ownerCaps {
	positive := func(name string) int {
		n, err := strconv.Atoi(env(prefix + name))
		if err != nil {
			return 0
		}
		return max(0, n)
	}
	const longest = int(365 * 24 * time.Hour / time.Millisecond)
	c := ownerCaps{
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

// any reports whether the owner caps the run.
func (c ownerCaps) any() bool { return c.fetches > 0 || c.wallClock > 0 || c.whole > 0 }

// listPage reads one page of a list, unless the run's time is up. A request cap applies only to details: without
// its list a run cannot report what is missing.
func listPage[T any](ctx context.Context, r *runState, read func() (T, error)) (page T, err error) {
	if r.late() {
		return page, &Error{Class: Unavailable, stopped: governor.MaxWallClock}
	}
	return retryOpenCircuit(ctx, r, read)
}

// late reports whether the run's time, or the time for details, is up. It is checked between requests; one in
// flight is finished.
func (r *runState) late() bool {
	left, bounded := r.budget.Left(r.p.Now())
	return bounded && left <= 0
}

// detailBill charges a detail to the run's cap. The unit is the request that was sent, successful or not, including
// retries, because the provider counts these (PB-01).
type detailBill struct {
	r    *runState
	from int64 // requests sent before
	paid int64
}

func (r *runState) openBill() *detailBill { return &detailBill{r: r, from: r.sent.Load()} }

// payFor charges the requests since the last call, and at least the number of details. So connectors with
// requests that the kit does not see are bounded too, and batch requests bring no advantage.
func (b *detailBill) payFor(details int) {
	for due := max(int64(details), b.r.sent.Load()-b.from); b.paid < due; b.paid++ {
		b.r.budget.Spend()
	}
}

// capped reports whether another detail would exceed a cap. Its first call starts the time for details. It is
// checked between details; one in flight is finished. All passes of a run share one budget.
func (r *runState) capped() bool {
	r.budget.BeginDetails(r.p.Now())
	return r.spent()
}

// spent reports whether a cap is reached.
func (r *runState) spent() bool {
	return r.budget.Exhausted(r.p.Now()) != ""
}

// gapTail bounds how many single gaps a run writes after it has stopped fetching. All passes of a run share one.
type gapTail struct {
	bounded bool
	left    int
}

func newTail(c ownerCaps) *gapTail { return &gapTail{bounded: c.chunk > 0, left: c.chunk} }

// full reports whether the next gap must go into the backlog.
func (t *gapTail) full() bool { return t.bounded && t.left <= 0 }

func (t *gapTail) take() { t.left-- }
