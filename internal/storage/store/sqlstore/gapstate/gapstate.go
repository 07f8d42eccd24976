// Package gapstate is the state machine of a gap.
package gapstate

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// Row is a row of connector_detail_gaps. Its methods are the state machine of a gap; they do not write.
type Row struct {
	store.Gap
	LeaseExpires *time.Time
	ServedRun    string // the run that must not get this gap again
}

// LeasedUnder reports whether a run holds the gap with a token.
func (g *Row) LeasedUnder(runID, leaseID string) bool {
	return g.LeaseRun == runID && g.LeaseID == leaseID && leaseID != ""
}

// Attempt counts one attempt, once per lease.
func (g *Row) Attempt(now time.Time) {
	if g.LeaseAttempted {
		return
	}
	g.LeaseAttempted = true
	g.AttemptCount++
	g.LastAttemptAt, g.UpdatedAt = &now, now
}

// AttemptUnleased counts one attempt without a token: once per lease of a run that holds the gap, and every time
// otherwise.
func (g *Row) AttemptUnleased(runID string, now time.Time) {
	if g.LeaseRun != runID {
		g.LeaseAttempted = false
	}
	g.Attempt(now)
	if g.LeaseRun == "" {
		g.LeaseAttempted = false
	}
}

// ReturnToPending returns a leased gap to pending after an attempt that did not fetch the item.
func (g *Row) ReturnToPending(w slice.Gap, runID string, now time.Time) {
	g.Attempt(now)
	g.report(w, runID, now)
}

// Refresh applies a report of the same missing item without a lease.
func (g *Row) Refresh(w slice.Gap, runID string, now time.Time) {
	if g.Status == protocol.GapRecovered {
		if g.RecoveredRun == runID {
			return // this run has fetched it; the report is from an earlier page
		}
		g.AttemptCount, g.LastAttemptAt, g.RecoveredRun = 0, nil, ""
		g.DiscoveredRun = runID
	}
	if g.LeaseRun == runID && runID != "" {
		g.describe(w, runID, now) // the run holds the gap and will report the outcome with its token
		return
	}
	g.report(w, runID, now)
}

// report stores what the run reports about the gap and ends the lease. The served mark stays, so that this run does
// not get the gap again.
func (g *Row) report(w slice.Gap, runID string, now time.Time) {
	g.describe(w, runID, now)
	g.Status = protocol.GapPending
	if !w.Retryable || g.IgnoredWhy != "" {
		g.Status = protocol.GapTerminal
	}
	g.endLease()
}

func (g *Row) describe(w slice.Gap, runID string, now time.Time) {
	g.Reason, g.NotBefore = w.Reason, w.NotBefore
	setIfPresent(&g.Locator, w.Locator)
	setIfPresent(&g.ListCursor, w.ListCursor)
	g.LastError = w.LastError
	g.LastRun, g.UpdatedAt = runID, now
}

// Recovered closes the gap.
func (g *Row) Recovered(runID string, now time.Time) {
	if g.Status == protocol.GapRecovered {
		return
	}
	g.Status, g.RecoveredRun, g.LastRun, g.UpdatedAt = protocol.GapRecovered, runID, runID, now
	g.NotBefore, g.LastError, g.IgnoredWhy = nil, nil, ""
	g.endLease()
}

// Retry makes the gap eligible at once, or as soon as the run that holds it releases it.
func (g *Row) Retry(now time.Time) {
	g.Status = protocol.GapPending
	if g.LeaseRun != "" {
		g.Status = protocol.GapInProgress
	}
	g.AttemptCount, g.NotBefore, g.IgnoredWhy, g.ServedRun = 0, nil, "", ""
	g.UpdatedAt = now
}

// Ignore makes the gap terminal. A run that holds it keeps its token and may still recover it, but no longer returns
// it to pending.
func (g *Row) Ignore(why string, now time.Time) {
	g.Status, g.IgnoredWhy, g.UpdatedAt = protocol.GapTerminal, why, now
}

func (g *Row) endLease() {
	g.LeaseRun, g.LeaseID, g.LeaseAttempted, g.LeaseExpires = "", "", false, nil
}

func setIfPresent(dst *jsontext.Value, v jsontext.Value) {
	if len(v) > 0 {
		*dst = v
	}
}
