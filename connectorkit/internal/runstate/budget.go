package runstate

import (
	"context"
	"errors"

	"github.com/pdpp-go/pdpp/connectorkit/failure"
	"github.com/pdpp-go/pdpp/connectorkit/internal/ownersettings"
	"github.com/pdpp-go/pdpp/governor"
)

// ListPage reads one page of a list, unless the run's time is up. A request cap applies only to details: without
// its list a run cannot report what is missing.
func ListPage[T any](ctx context.Context, r *Run, read func() (T, error)) (page T, err error) {
	if r.TimeIsUp() {
		return page, &failure.Error{Class: failure.Unavailable, Stopped: governor.MaxWallClock}
	}
	return RetryOpenCircuit(ctx, r, read)
}

// TimeIsUp reports whether the run's time, or the time for details, is up. It is checked between requests; one in
// flight is finished.
func (r *Run) TimeIsUp() bool {
	left, bounded := r.Budget.Left(r.Now())
	return bounded && left <= 0
}

// DetailBill charges a detail to the run's cap. The unit is the request that was sent, successful or not, including
// retries, because the provider counts these (PB-01).
type DetailBill struct {
	r    *Run
	from int64 // requests sent before
	paid int64
}

// OpenDetailBill begins to count the requests of a detail.
func (r *Run) OpenDetailBill() *DetailBill { return &DetailBill{r: r, from: r.sent.Load()} }

// ChargeDetails charges the requests since the last call, and at least the number of details. So connectors with
// requests that the kit does not see are bounded too, and batch requests bring no advantage.
func (b *DetailBill) ChargeDetails(details int) {
	for due := max(int64(details), b.r.sent.Load()-b.from); b.paid < due; b.paid++ {
		b.r.Budget.Spend()
	}
}

// NextDetailCapped reports whether another detail would exceed a cap. Its first call starts the time for details. It is
// checked between details; one in flight is finished. All passes of a run share one budget.
func (r *Run) NextDetailCapped() bool {
	r.Budget.BeginDetails(r.Now())
	return r.CapIsReached()
}

// CapIsReached reports whether a cap is reached.
func (r *Run) CapIsReached() bool {
	return r.Budget.Exhausted(r.Now()) != ""
}

// GapTail bounds how many single gaps a run writes after it has stopped fetching. All passes of a run share one.
type GapTail struct {
	bounded bool
	left    int
}

func newGapTail(c ownersettings.RunCaps) *GapTail {
	return &GapTail{bounded: c.TailChunk > 0, left: c.TailChunk}
}

// IsExhausted reports whether the next gap must go into the backlog.
func (t *GapTail) IsExhausted() bool { return t.bounded && t.left <= 0 }

// CountGap counts a gap that was written after the stop.
func (t *GapTail) CountGap() { t.left-- }

// MaxEmptyPages bounds how many empty pages in a row may announce more. Beyond it the provider is not making
// progress.
const MaxEmptyPages = 100

var (
	// ErrPageRepeats means that a provider leads back to an earlier page.
	ErrPageRepeats = errors.New("the next page is one that was already read")
	// ErrEmptyPages means that a list makes no progress.
	ErrEmptyPages = errors.New("page after page is empty and promises more")
)
