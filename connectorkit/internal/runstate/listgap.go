package runstate

import (
	"context"
	"errors"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/failure"
	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/protocol"
)

// A list that a run could not read to its end, because the provider asked for a pause or the run stopped, is a
// gap like a missing detail: one per list. Its cursor is that of the last finished slice, where a later run
// continues. The run that reaches the end settles it.

// ListGapKey returns the key of a list's gap. It is the same in every run, so that a list never has two.
func ListGapKey(list string) string { return "__" + list + "_list__" }

// HoldListGap keeps a served gap that represents one of the lists.
func (r *Run) HoldListGap(lists []string, e protocol.GapEntry) bool {
	for _, list := range lists {
		if string(e.RecordKey) == ListGapKey(list) {
			r.Lists[list] = e
			return true
		}
	}
	return false
}

// ListAttempted announces that a list with a held gap is being read.
func (r *Run) ListAttempted(ctx context.Context, list string) error {
	e, holding := r.Lists[list]
	if !holding {
		return nil
	}
	return r.Out.Send(
		ctx,
		&protocol.DetailGapAttempted{GapID: e.GapID, LeaseID: e.LeaseID, Stream: e.Stream, ReferenceOnly: true},
	)
}

// ListRecovered settles the held gap of a list that was read to its end.
func (r *Run) ListRecovered(ctx context.Context, list string) error {
	e, holding := r.Lists[list]
	if !holding {
		return nil
	}
	delete(r.Lists, list)
	return r.Out.Send(ctx, &protocol.DetailGapRecovered{
		GapID: e.GapID, LeaseID: e.LeaseID, Stream: e.Stream, RecordKey: e.RecordKey, ReferenceOnly: true,
	})
}

// DeclareListCut declares that a list was cut short at the cursor. It becomes durable with the STATE that follows, or
// with the end of the run.
func (r *Run) DeclareListCut(ctx context.Context, list, stream string, at jsontext.Value, d Postponement) error {
	r.Log.Warn("list was cut short", "stream", stream, "reason", d.Reason, "class", d.Class)
	g := NewGapMessage(d, r.Now())
	g.Stream, g.RecordKey = stream, protocol.WireKey(ListGapKey(list))
	g.DetailLocator = EncodeBookmark(struct {
		Kind string `json:"kind"`
	}{r.Manifest.Key() + "." + list + "_list"})
	if at.Kind() == '{' {
		g.ListCursor = at
	}
	if e, holding := r.Lists[list]; holding {
		delete(r.Lists, list)
		g.Stream, g.ParentStream, g.GapID, g.LeaseID = e.Stream, e.ParentStream, e.GapID, e.LeaseID
	}
	if err := r.Out.Send(ctx, g); err != nil {
		return err
	}
	return r.Out.Send(ctx, &protocol.Progress{Stream: stream, Message: protocol.OwnerCopy(d.Reason, d.Class)})
}

// ListCutError ends a list after its details met a stop.
type ListCutError struct{ Postponement }

func (c *ListCutError) Error() string { return "list is cut short: " + string(c.Reason) }

// PostponedList returns what the error of a list page means if it is not a failure: the provider asked for a pause, or
// we stopped. An unreachable or broken provider is a failure, even if that opened our circuit or used up our
// retries.
func PostponedList(err error) (Postponement, bool) {
	var own *failure.RunFailure
	if err == nil || errors.As(err, &own) {
		return Postponement{}, false
	}
	var known *ListCutError
	if errors.As(err, &known) {
		return known.Postponement, true
	}
	e := failure.ClassifyError(err)
	var s *governhttp.Stopped
	down := errors.As(err, &s) && s.Kind == governor.Failed && s.Attempts > 0 && e.Stopped != governor.MaxWallClock
	switch stop := ChosenStop(e.Stopped); {
	case down:
		return Postponement{}, false
	case stop != nil:
		return stop.Postponement, true
	case e.Class == failure.RateLimited:
		return PostponedByLimit(e), true
	case e.HasRetryAfter && e.Kind() == governor.Throttled:
		return Postponement{
			Reason:     protocol.ReasonTemporaryUnavailable,
			Class:      string(e.Class),
			Status:     e.Status,
			Retryable:  true,
			RetryAfter: e.RetryAfter,
		}, true
	}
	return Postponement{}, false
}

// PostponedByLimit returns the deferral for a refusal by the provider's limit.
func PostponedByLimit(e *failure.Error) Postponement {
	d := Postponement{
		Reason:     protocol.ReasonRateLimited,
		Class:      protocol.ClassUpstreamPressure,
		Status:     e.Status,
		Retryable:  true,
		RetryAfter: e.RetryAfter,
	}
	if d.Status == 0 {
		d.Status = http.StatusTooManyRequests
	}
	return d
}
