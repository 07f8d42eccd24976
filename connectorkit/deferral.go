package connectorkit

import (
	"context"
	"time"

	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// postponement is why a detail is missing.
type postponement struct {
	reason     protocol.Reason
	class      string
	status     int
	retryable  bool
	retryAfter time.Duration
	since      time.Time // start of retryAfter
	gone       bool      // the item itself was deleted
}

// left returns the rest of the wait that the provider asked for, rounded up to seconds.
func (d *postponement) left(now time.Time) time.Duration {
	left := d.retryAfter
	if !d.since.IsZero() {
		left -= now.Sub(d.since)
	}
	return max(0, left+time.Second-1).Truncate(time.Second)
}

// laneStop is why a lane starts no more fetches.
type laneStop struct {
	postponement
	cap bool // our own limit, not the provider's
	// ends is the error class that ends the run after the slice is committed. Empty means that the run continues.
	ends Class
}

// capStop is a stop that we chose: its reason is not source pressure, its class differs from exhausted retries,
// and it has no HTTP status, because nothing failed (RT-17, PB-09).
var capStop = &laneStop{cap: true, postponement: postponement{
	reason: protocol.ReasonRetryExhausted, class: protocol.ClassRunCap, retryable: true,
}}

var pressure = postponement{
	reason: protocol.ReasonUpstreamPressure, class: protocol.ClassUpstreamPressure, retryable: true,
}

// deletes reports whether an item is deleted with its detail, and the list stream supports deletions.
func (l *listDetailRun) deletes() bool {
	s := l.r.scope[l.List]
	return l.GoneWithDetail && s != nil && s.stream.Semantics == manifest.MutableState
}

// postponementOf returns what a failed fetch means for its item, and for the items after it.
func (l *listDetailRun) postponementOf(e *Error) (postponement, *laneStop) {
	if s := ownStop(e.stopped); s != nil {
		return s.postponement, s
	}
	d := postponement{
		reason: protocol.ReasonTemporaryUnavailable, class: string(e.Class), status: e.Status,
		retryable: true, retryAfter: e.RetryAfter, since: l.r.p.Now(),
	}
	l.failures++
	switch e.Class {
	case RateLimited:
		own, rest := postponedByLimit(e), pressure
		own.since, rest.since, rest.retryAfter = d.since, d.since, e.RetryAfter
		return own, &laneStop{postponement: rest}
	case Unauthorized:
		d.reason = protocol.ReasonAuthFailure
		return d, &laneStop{ends: e.Class, postponement: postponement{reason: d.reason, class: d.class, retryable: true}}
	case Challenge:
		own, rest := pressure, pressure
		own.status = e.Status
		return own, &laneStop{ends: e.Class, postponement: rest}
	case NotFound, Gone, Forbidden:
		l.failures = 0 // a clear and final response
		d.reason, d.retryable, d.gone = protocol.Reason(e.Class), false, e.Class == Gone && l.deletes()
		return d, nil
	case Unavailable:
		if governhttp.UnreachableHost(e.Err) != "" {
			return d, &laneStop{postponement: d} // the others would fail too
		}
		if l.failures >= l.r.knobs.densityStop {
			return d, &laneStop{postponement: pressure}
		}
	default:
		if l.failures >= l.r.knobs.densityStop {
			return d, &laneStop{postponement: postponement{reason: d.reason, class: d.class, retryable: true}}
		}
	}
	return d, nil
}

// gapOutcome is how a gap message relates to the gap that this run may hold.
type gapOutcome bool

const (
	wasTried    gapOutcome = true  // the item was attempted: this settles a held gap
	wasNotTried gapOutcome = false // it was not: a held gap stays as it is
)

// gap declares an item's detail as missing.
func (l *listDetailRun) gap(ctx context.Context, item Item, d postponement, o gapOutcome) error {
	return l.gapAt(ctx, item, timeWindow{Before: item.Time}, d, o)
}

func (l *listDetailRun) gapAt(ctx context.Context, item Item, at timeWindow, d postponement, o gapOutcome) error {
	l.book.set(item.Key, false, item.Time)
	held, holding := l.held[item.Key]
	if holding && o == wasNotTried {
		return nil
	}
	g := gapMessage(d, l.r.p.Now())
	g.Stream, g.ParentStream, g.RecordKey, g.DetailLocator = l.Detail, l.List, protocol.WireKey(item.Key), item.Locator
	if !item.Locator.IsValid() || item.Locator.Kind() != '{' {
		g.DetailLocator = nil // the key must suffice
	}
	if !at.Before.IsZero() {
		g.ListCursor = encode(at)
	}
	if holding {
		g.GapID, g.LeaseID = held.GapID, held.LeaseID
		delete(l.held, item.Key)
	}
	return l.r.out.send(ctx, g)
}

// gapMessage returns a message with the reason. The caller adds what is missing.
func gapMessage(d postponement, now time.Time) *protocol.DetailGap {
	type lastError struct {
		Class      string `json:"class"`
		HTTPStatus int    `json:"http_status,omitzero"`
		RetryAfter int64  `json:"retry_after_ms,omitzero"`
		Message    string `json:"message"`
	}
	return &protocol.DetailGap{
		Reason: d.reason, Retryable: d.retryable, Status: protocol.GapPending, ReferenceOnly: true,
		Detail:    &protocol.GapDetail{Class: d.class, HTTPStatus: d.status},
		LastError: encode(lastError{d.class, d.status, d.left(now).Milliseconds(), protocol.OwnerCopy(d.reason, d.class)}),
	}
}
