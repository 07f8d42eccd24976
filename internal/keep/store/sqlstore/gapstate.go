package sqlstore

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/protocol"
)

// gap is a row of connector_detail_gaps. Its methods are the state machine of a
// gap; they decide and do not write.
type gap struct {
	store.Gap
	leaseExpires *time.Time
	servedRun    string // the run that must not be served this gap again
}

func (g *gap) leasedUnder(runID, leaseID string) bool {
	return g.LeaseRun == runID && g.LeaseID == leaseID && leaseID != ""
}

// attempt burns one attempt, once per lease.
func (g *gap) attempt(now time.Time) {
	if g.LeaseAttempted {
		return
	}
	g.LeaseAttempted = true
	g.AttemptCount++
	g.LastAttemptAt, g.UpdatedAt = &now, now
}

// attemptUnleased burns one attempt of a gap that is tried without a token: once for
// each time that a run holds it, and each time otherwise.
func (g *gap) attemptUnleased(runID string, now time.Time) {
	if g.LeaseRun != runID {
		g.LeaseAttempted = false
	}
	g.attempt(now)
	if g.LeaseRun == "" {
		g.LeaseAttempted = false
	}
}

// settle puts a leased gap back after an attempt that did not bring the detail.
func (g *gap) settle(w slice.Gap, runID string, now time.Time) {
	g.attempt(now)
	g.report(w, runID, now)
}

// refresh takes in a miss that was found without a lease.
func (g *gap) refresh(w slice.Gap, runID string, now time.Time) {
	if g.Status == protocol.GapRecovered {
		if g.RecoveredRun == runID {
			return // this run has fetched it; an older page still speaks of the miss
		}
		g.AttemptCount, g.LastAttemptAt, g.RecoveredRun = 0, nil, ""
		g.DiscoveredRun = runID
	}
	if g.LeaseRun == runID && runID != "" {
		g.describe(w, runID, now) // the run holds the gap and will settle it by its token
		return
	}
	g.report(w, runID, now)
}

// report writes down what the run says of the gap and ends the lease. The
// served mark stays, so that this run does not get the gap a second time.
func (g *gap) report(w slice.Gap, runID string, now time.Time) {
	g.describe(w, runID, now)
	g.Status = protocol.GapPending
	if !w.Retryable || g.IgnoredWhy != "" {
		g.Status = protocol.GapTerminal
	}
	g.endLease()
}

func (g *gap) describe(w slice.Gap, runID string, now time.Time) {
	g.Reason, g.NotBefore = w.Reason, w.NotBefore
	keepOr(&g.Locator, w.Locator)
	keepOr(&g.ListCursor, w.ListCursor)
	g.LastError = w.LastError
	g.LastRun, g.UpdatedAt = runID, now
}

// recovered closes the gap.
func (g *gap) recovered(runID string, now time.Time) {
	if g.Status == protocol.GapRecovered {
		return
	}
	g.Status, g.RecoveredRun, g.LastRun, g.UpdatedAt = protocol.GapRecovered, runID, runID, now
	g.NotBefore, g.LastError, g.IgnoredWhy = nil, nil, ""
	g.endLease()
}

// retry makes the gap eligible at once, or as soon as the run that holds it lets go.
func (g *gap) retry(now time.Time) {
	g.Status = protocol.GapPending
	if g.LeaseRun != "" {
		g.Status = protocol.GapInProgress
	}
	g.AttemptCount, g.NotBefore, g.IgnoredWhy, g.servedRun = 0, nil, "", ""
	g.UpdatedAt = now
}

// ignore makes the gap terminal. A run that holds it keeps its token and may
// still recover it, but no longer returns it to pending.
func (g *gap) ignore(why string, now time.Time) {
	g.Status, g.IgnoredWhy, g.UpdatedAt = protocol.GapTerminal, why, now
}

func (g *gap) endLease() {
	g.LeaseRun, g.LeaseID, g.LeaseAttempted, g.leaseExpires = "", "", false, nil
}

func keepOr(dst *jsontext.Value, v jsontext.Value) {
	if len(v) > 0 {
		*dst = v
	}
}
