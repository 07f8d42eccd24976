package connectorkit

import (
	"context"
	"errors"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/protocol"
)

// A list that a run could not read to its end, because the provider asked for a pause or the run stopped, is a
// gap like a missing detail: one per list. Its cursor is that of the last finished slice, where a later run
// continues. The run that reaches the end settles it.

// listGapKey returns the key of a list's gap. It is the same in every run, so that a list never has two.
func listGapKey(list string) string { return "__" + list + "_list__" }

// hold keeps a served gap that represents the list of a worker.
func (r *runState) hold(workers []collectorRun, e protocol.GapEntry) bool {
	for _, w := range workers {
		if string(e.RecordKey) == listGapKey(w.list()) {
			r.lists[w.list()] = e
			return true
		}
	}
	return false
}

// listAttempted announces that a list with a held gap is being read.
func (r *runState) listAttempted(ctx context.Context, list string) error {
	e, holding := r.lists[list]
	if !holding {
		return nil
	}
	return r.out.send(
		ctx,
		&protocol.DetailGapAttempted{GapID: e.GapID, LeaseID: e.LeaseID, Stream: e.Stream, ReferenceOnly: true},
	)
}

// listRecovered settles the held gap of a list that was read to its end.
func (r *runState) listRecovered(ctx context.Context, list string) error {
	e, holding := r.lists[list]
	if !holding {
		return nil
	}
	delete(r.lists, list)
	return r.out.send(ctx, &protocol.DetailGapRecovered{
		GapID: e.GapID, LeaseID: e.LeaseID, Stream: e.Stream, RecordKey: e.RecordKey, ReferenceOnly: true,
	})
}

// listCut declares that a list was cut short at the cursor. It becomes durable with the STATE that follows, or
// with the end of the run.
func (r *runState) listCut(ctx context.Context, list, stream string, at jsontext.Value, d postponement) error {
	r.log.Warn("list was cut short", "stream", stream, "reason", d.reason, "class", d.class)
	g := gapMessage(d, r.p.Now())
	g.Stream, g.RecordKey = stream, protocol.WireKey(listGapKey(list))
	g.DetailLocator = encode(struct {
		Kind string `json:"kind"`
	}{r.c.Manifest.Key() + "." + list + "_list"})
	if at.Kind() == '{' {
		g.ListCursor = at
	}
	if e, holding := r.lists[list]; holding {
		delete(r.lists, list)
		g.Stream, g.ParentStream, g.GapID, g.LeaseID = e.Stream, e.ParentStream, e.GapID, e.LeaseID
	}
	if err := r.out.send(ctx, g); err != nil {
		return err
	}
	return r.out.send(ctx, &protocol.Progress{Stream: stream, Message: protocol.OwnerCopy(d.reason, d.class)})
}

// listCut ends a list after its details met a stop.
type listCut struct{ postponement }

func (c *listCut) Error() string { return "list is cut short: " + string(c.reason) }

// postponedList returns what the error of a list page means if it is not a failure: the provider asked for a pause, or
// we stopped. An unreachable or broken provider is a failure, even if that opened our circuit or used up our
// retries.
func postponedList(err error) (postponement, bool) {
	var own *runFailure
	if err == nil || errors.As(err, &own) {
		return postponement{}, false
	}
	var known *listCut
	if errors.As(err, &known) {
		return known.postponement, true
	}
	e := classify(err)
	var s *governhttp.Stopped
	down := errors.As(err, &s) && s.Kind == governor.Failed && s.Attempts > 0 && e.stopped != governor.MaxWallClock
	switch stop := ownStop(e.stopped); {
	case down:
		return postponement{}, false
	case stop != nil:
		return stop.postponement, true
	case e.Class == RateLimited:
		return postponedByLimit(e), true
	case e.HasRetryAfter && e.Kind() == governor.Throttled:
		return postponement{
			reason:     protocol.ReasonTemporaryUnavailable,
			class:      string(e.Class),
			status:     e.Status,
			retryable:  true,
			retryAfter: e.RetryAfter,
		}, true
	}
	return postponement{}, false
}

// postponedByLimit returns the deferral for a refusal by the provider's limit.
func postponedByLimit(e *Error) postponement {
	d := postponement{
		reason:     protocol.ReasonRateLimited,
		class:      protocol.ClassUpstreamPressure,
		status:     e.Status,
		retryable:  true,
		retryAfter: e.RetryAfter,
	}
	if d.status == 0 {
		d.status = http.StatusTooManyRequests
	}
	return d
}
