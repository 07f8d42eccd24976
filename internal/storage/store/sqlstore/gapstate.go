package sqlstore

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// gapRow is a row of connector_detail_gaps. Its methods are the state machine of a gap; they do not write.
type gapRow struct {
	store.Gap
	leaseExpires *time.Time
	servedRun    string // the run that must not get this gap again
}

func (g *gapRow) leasedUnder(runID, leaseID string) bool {
	return g.LeaseRun == runID && g.LeaseID == leaseID && leaseID != ""
}

// attempt counts one attempt, once per lease.
func (g *gapRow) attempt(now time.Time) {
	if g.LeaseAttempted {
		return
	}
	g.LeaseAttempted = true
	g.AttemptCount++
	g.LastAttemptAt, g.UpdatedAt = &now, now
}

// attemptUnleased counts one attempt without a token: once per lease of a run that holds the gap, and every time
// otherwise.
func (g *gapRow) attemptUnleased(runID string, now time.Time) {
	if g.LeaseRun != runID {
		g.LeaseAttempted = false
	}
	g.attempt(now)
	if g.LeaseRun == "" {
		g.LeaseAttempted = false
	}
}

// returnToPending returns a leased gap to pending after an attempt that did not fetch the item.
func (g *gapRow) returnToPending(w slice.Gap, runID string, now time.Time) {
	g.attempt(now)
	g.report(w, runID, now)
}

// refresh applies a report of the same missing item without a lease.
func (g *gapRow) refresh(w slice.Gap, runID string, now time.Time) {
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
func (g *gapRow) report(w slice.Gap, runID string, now time.Time) {
	g.describe(w, runID, now)
	g.Status = protocol.GapPending
	if !w.Retryable || g.IgnoredWhy != "" {
		g.Status = protocol.GapTerminal
	}
	g.endLease()
}

func (g *gapRow) describe(w slice.Gap, runID string, now time.Time) {
	g.Reason, g.NotBefore = w.Reason, w.NotBefore
	setIfPresent(&g.Locator, w.Locator)
	setIfPresent(&g.ListCursor, w.ListCursor)
	g.LastError = w.LastError
	g.LastRun, g.UpdatedAt = runID, now
}

// recovered closes the gap.
func (g *gapRow) recovered(runID string, now time.Time) {
	if g.Status == protocol.GapRecovered {
		return
	}
	g.Status, g.RecoveredRun, g.LastRun, g.UpdatedAt = protocol.GapRecovered, runID, runID, now
	g.NotBefore, g.LastError, g.IgnoredWhy = nil, nil, ""
	g.endLease()
}

// retry makes the gap eligible at once, or as soon as the run that holds it releases it.
func (g *gapRow) retry(now time.Time) {
	g.Status = protocol.GapPending
	if g.LeaseRun != "" {
		g.Status = protocol.GapInProgress
	}
	g.AttemptCount, g.NotBefore, g.IgnoredWhy, g.servedRun = 0, nil, "", ""
	g.UpdatedAt = now
}

// ignore makes the gap terminal. A run that holds it keeps its token and may still recover it, but no longer returns
// it to pending.
func (g *gapRow) ignore(why string, now time.Time) {
	g.Status, g.IgnoredWhy, g.UpdatedAt = protocol.GapTerminal, why, now
}

func (g *gapRow) endLease() {
	g.LeaseRun, g.LeaseID, g.LeaseAttempted, g.leaseExpires = "", "", false, nil
}

func setIfPresent(dst *jsontext.Value, v jsontext.Value) {
	if len(v) > 0 {
		*dst = v
	}
}
