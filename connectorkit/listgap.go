package connectorkit

import (
	"context"
	"errors"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"pdpp/governor"
	"pdpp/governor/governhttp"
	"pdpp/protocol"
)

// A list that a run could not read to its end, because the provider asked for
// quiet or because the run stopped by itself, is a gap like a missing detail: one
// per list. Its cursor is that of the last finished slice, from which a later run
// reads on; the run that reaches the end settles it.

// listKey is the key of a list's gap. It is the same in every run, so that a list
// never has two.
func listKey(list string) string { return "__" + list + "_list__" }

// hold keeps a served gap that stands for the list of a worker.
func (r *run) hold(workers []worker, e protocol.GapEntry) bool {
	for _, w := range workers {
		if string(e.RecordKey) == listKey(w.list()) {
			r.lists[w.list()] = e
			return true
		}
	}
	return false
}

// listAttempted says that a list with a held gap is being read on.
func (r *run) listAttempted(ctx context.Context, list string) error {
	e, holding := r.lists[list]
	if !holding {
		return nil
	}
	return r.out.send(ctx, &protocol.DetailGapAttempted{GapID: e.GapID, LeaseID: e.LeaseID, Stream: e.Stream, ReferenceOnly: true})
}

// listRecovered settles the held gap of a list that was read to its end.
func (r *run) listRecovered(ctx context.Context, list string) error {
	e, holding := r.lists[list]
	if !holding {
		return nil
	}
	delete(r.lists, list)
	return r.out.send(ctx, &protocol.DetailGapRecovered{
		GapID: e.GapID, LeaseID: e.LeaseID, Stream: e.Stream, RecordKey: e.RecordKey, ReferenceOnly: true,
	})
}

// listCut declares that a list was cut short at the cursor. It becomes durable with
// the STATE that follows, or with the end of the run.
func (r *run) listCut(ctx context.Context, list, stream string, at jsontext.Value, d deferral) error {
	r.log.Warn("list was cut short", "stream", stream, "reason", d.reason, "class", d.class)
	g := gapMessage(d, r.p.Now())
	g.Stream, g.RecordKey = stream, protocol.WireKey(listKey(list))
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

// cut ends a list that would be read on into a stop that its details met.
type cut struct{ deferral }

func (c *cut) Error() string { return "list is cut short: " + string(c.reason) }

// cutShort is what the error of a list page means when it is no failure: the
// provider asked for quiet, or we stopped by ourselves. A provider that cannot be
// reached or is broken is a failure, even when that opened our circuit or used up
// our retries.
func cutShort(err error) (deferral, bool) {
	var own *failure
	if err == nil || errors.As(err, &own) {
		return deferral{}, false
	}
	var known *cut
	if errors.As(err, &known) {
		return known.deferral, true
	}
	e := classify(err)
	var s *governhttp.Stopped
	down := errors.As(err, &s) && s.Kind == governor.Failed && s.Attempts > 0 && e.stopped != governor.MaxWallClock
	switch stop := ownStop(e.stopped); {
	case down:
		return deferral{}, false
	case stop != nil:
		return stop.deferral, true
	case e.Class == RateLimited:
		return limitedBy(e), true
	case e.HasRetryAfter && e.Kind() == governor.Throttled:
		return deferral{
			reason: protocol.ReasonTemporaryUnavailable, class: string(e.Class), status: e.Status, retryable: true, retryAfter: e.RetryAfter,
		}, true
	}
	return deferral{}, false
}

// limitedBy is the deferral of what the provider's limit refused.
func limitedBy(e *Error) deferral {
	d := deferral{
		reason: protocol.ReasonRateLimited, class: protocol.ClassUpstreamPressure, status: e.Status, retryable: true, retryAfter: e.RetryAfter,
	}
	if d.status == 0 {
		d.status = http.StatusTooManyRequests
	}
	return d
}
