package runstate

import (
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/failure"
	"github.com/pdpp-go/pdpp/protocol"
)

// Postponement is why a detail is missing.
type Postponement struct {
	Reason     protocol.Reason
	Class      string
	Status     int
	Retryable  bool
	RetryAfter time.Duration
	Since      time.Time // Start of retryAfter
	Gone       bool      // the item itself was deleted
}

// remainingWait returns the rest of the wait that the provider asked for, rounded up to seconds.
func (d *Postponement) remainingWait(now time.Time) time.Duration {
	left := d.RetryAfter
	if !d.Since.IsZero() {
		left -= now.Sub(d.Since)
	}
	return max(0, left+time.Second-1).Truncate(time.Second)
}

// LaneStop is why a lane starts no more fetches.
type LaneStop struct {
	Postponement
	Cap bool // our own limit, not the provider's
	// Ends is the error class that ends the run after the slice is committed. Empty means that the run continues.
	Ends failure.Class
}

// RunCapStop is a stop that we chose: its reason is not source pressure, its class differs from exhausted retries,
// and it has no HTTP status, because nothing failed (RT-17, PB-09).
var RunCapStop = &LaneStop{Cap: true, Postponement: Postponement{
	Reason: protocol.ReasonRetryExhausted, Class: protocol.ClassRunCap, Retryable: true,
}}

// SourcePressure is the reason of items that a refused lane did not request.
var SourcePressure = Postponement{
	Reason: protocol.ReasonUpstreamPressure, Class: protocol.ClassUpstreamPressure, Retryable: true,
}

// NewGapMessage returns a message with the reason. The caller adds what is missing.
func NewGapMessage(d Postponement, now time.Time) *protocol.DetailGap {
	type lastError struct {
		Class      string `json:"class"`
		HTTPStatus int    `json:"http_status,omitzero"`
		RetryAfter int64  `json:"retry_after_ms,omitzero"`
		Message    string `json:"message"`
	}
	return &protocol.DetailGap{
		Reason: d.Reason, Retryable: d.Retryable, Status: protocol.GapPending, ReferenceOnly: true,
		Detail: &protocol.GapDetail{Class: d.Class, HTTPStatus: d.Status},
		LastError: EncodeBookmark(lastError{d.Class, d.Status, d.remainingWait(now).Milliseconds(),
			protocol.OwnerCopy(d.Reason, d.Class)}),
	}
}
