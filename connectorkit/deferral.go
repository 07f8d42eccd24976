package connectorkit

import (
	"context"
	"time"

	"pdpp/governor/governhttp"
	"pdpp/manifest"
	"pdpp/protocol"
)

// deferral is why a detail is not here yet.
type deferral struct {
	reason     protocol.Reason
	class      string
	status     int
	retryable  bool
	retryAfter time.Duration
	since      time.Time // of which retryAfter counts
	gone       bool      // the item itself was removed
}

// left is how much of the wait that the provider asked for remains, in full seconds
// so that it is never too short.
func (d *deferral) left(now time.Time) time.Duration {
	left := d.retryAfter
	if !d.since.IsZero() {
		left -= now.Sub(d.since)
	}
	return max(0, left+time.Second-1).Truncate(time.Second)
}

// stop is why a lane launches no more fetches.
type stop struct {
	deferral
	cap bool // our own bound, not the provider's
	// ends is the class that the run ends with once the slice is committed; empty when
	// the run goes on.
	ends Class
}

// A run cap is a stop that we chose: its reason is outside the source-pressure
// set, its class tells it from exhausted retries, and it has no HTTP status,
// because nothing failed (RT-17, PB-09).
var capStop = &stop{cap: true, deferral: deferral{
	reason: protocol.ReasonRetryExhausted, class: protocol.ClassRunCap, retryable: true,
}}

var pressure = deferral{
	reason: protocol.ReasonUpstreamPressure, class: protocol.ClassUpstreamPressure, retryable: true,
}

// deletes reports whether an item goes with its detail, and the list stream can say so.
func (l *lane) deletes() bool {
	s := l.r.scope[l.List]
	return l.GoneWithDetail && s != nil && s.stream.Semantics == manifest.MutableState
}

// deferralOf is what a failed fetch means for its item, and for those after it.
func (l *lane) deferralOf(e *Error) (deferral, *stop) {
	if s := ownStop(e.stopped); s != nil {
		return s.deferral, s
	}
	d := deferral{
		reason: protocol.ReasonTemporaryUnavailable, class: string(e.Class), status: e.Status,
		retryable: true, retryAfter: e.RetryAfter, since: l.r.p.Now(),
	}
	l.failures++
	switch e.Class {
	case RateLimited:
		own, rest := limitedBy(e), pressure
		own.since, rest.since, rest.retryAfter = d.since, d.since, e.RetryAfter
		return own, &stop{deferral: rest}
	case Unauthorized:
		d.reason = protocol.ReasonAuthFailure
		return d, &stop{ends: e.Class, deferral: deferral{reason: d.reason, class: d.class, retryable: true}}
	case Walled:
		own, rest := pressure, pressure
		own.status = e.Status
		return own, &stop{ends: e.Class, deferral: rest}
	case NotFound, Gone, Forbidden:
		l.failures = 0 // a clear answer, and a final one
		d.reason, d.retryable, d.gone = protocol.Reason(e.Class), false, e.Class == Gone && l.deletes()
		return d, nil
	case Unavailable:
		if governhttp.UnreachableHost(e.Err) != "" {
			return d, &stop{deferral: d} // nor can any of the others
		}
		if l.failures >= l.r.knobs.densityStop {
			return d, &stop{deferral: pressure}
		}
	default:
		if l.failures >= l.r.knobs.densityStop {
			return d, &stop{deferral: deferral{reason: d.reason, class: d.class, retryable: true}}
		}
	}
	return d, nil
}

// outcome says how a gap message relates to the gap that this run may hold.
type outcome bool

const (
	tried   outcome = true  // the item was attempted: a held gap is settled by this
	untried outcome = false // it was not: a held gap already says so and stays as it is
)

// gap declares an item's detail as missing.
func (l *lane) gap(ctx context.Context, item Item, d deferral, o outcome) error {
	return l.gapAt(ctx, item, window{Before: item.Time}, d, o)
}

func (l *lane) gapAt(ctx context.Context, item Item, at window, d deferral, o outcome) error {
	l.book.set(item.Key, false, item.Time)
	held, holding := l.held[item.Key]
	if holding && o == untried {
		return nil
	}
	g := gapMessage(d, l.r.p.Now())
	g.Stream, g.ParentStream, g.RecordKey, g.DetailLocator = l.Detail, l.List, protocol.WireKey(item.Key), item.Locator
	if !item.Locator.IsValid() || item.Locator.Kind() != '{' {
		g.DetailLocator = nil // the key has to do
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

// gapMessage says why something is missing; what it is, the caller adds.
func gapMessage(d deferral, now time.Time) *protocol.DetailGap {
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
