package scheduler

import (
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/cadence"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// When to check a connection again.
const (
	// checkAtLeast is the longest time between two checks. Changes through time, such as freshness, are noticed within
	// it.
	checkAtLeast = 15 * time.Minute
	// checkQueued is how soon a connection is checked again after it got a job, in case the job's worker dies, or
	// after its facts could not be read.
	checkQueued = 20 * time.Second
)

// order is one run to make, and why.
type order struct {
	*evidence.Evidence
	trigger      store.Trigger
	recoveryOnly bool
	spare        bool                   // do not retry gaps that source pressure left
	askAnyway    bool                   // the owner does not want to wait for the provider
	scope        []protocol.StreamScope // single records to fetch; empty means everything
	grantID      string                 // the only requesting grant; empty if the owner or the schedule requests it
	lastRunID    string                 // the latest run for this order; empty before the first
}

// decide returns the run that the current facts require, or nil and when to check again. Passes and workers use the
// same decision. Waiting requests, oldest first, lead to a run independently of the schedule. They wait for the
// provider like scheduled runs, unless the owner chose to ask anyway.
func decide(e *evidence.Evidence, requests []store.RunRequest, now time.Time) (*order, time.Time) {
	if e.Connection.SourceKind == evidence.SourceLocalDevice {
		return nil, nextCheck(nil, now) // a device collects it and receives requests with its heartbeat
	}
	d := cadence.Decide(e, now)
	wait := e.ActiveWait(now)
	for _, request := range requests {
		if !honoured(&request, d) || wait != nil && !request.AskAnyway {
			continue
		}
		// A requeued cool-down run still leaves the pressure gaps alone.
		spare := request.RecoveryOnly && request.Trigger == store.TriggerScheduled
		o := &order{Evidence: e, trigger: request.Trigger, recoveryOnly: request.RecoveryOnly, spare: spare,
			askAnyway: request.AskAnyway, grantID: request.GrantID}
		if o.scope = request.Scope; len(o.scope) > 0 { // the next order handles the rest
			o.recoveryOnly, o.spare = false, false
		}
		return o, now
	}
	switch {
	case d.Due:
		return &order{Evidence: e, trigger: store.TriggerScheduled, recoveryOnly: d.RecoveryOnly, spare: d.RecoveryOnly}, now
	case len(requests) > 0 && wait != nil:
		return nil, nextCheck(&wait.Until, now)
	case d.Why == cadence.Unreadable: // no event triggers a check when the facts become readable
		return nil, now.Add(checkQueued)
	default:
		return nil, nextCheck(d.At, now)
	}
}

// honoured reports whether the schedule allows the request now. A scheduled run that a worker had to stop resumes out
// of turn, but otherwise obeys the schedule's rules: a pause since then counts.
func honoured(r *store.RunRequest, d cadence.Decision) bool {
	switch {
	case d.Why == cadence.Running || d.Why == cadence.ConnectionInactive:
		return false
	case r.Trigger == store.TriggerScheduled:
		return d.Due || d.Why == cadence.NotYet
	default:
		return true
	}
}

// nextCheck returns when to check a connection again for which a run may start at that time; nil means that time does
// not matter.
func nextCheck(at *time.Time, now time.Time) time.Time {
	if latest := now.Add(checkAtLeast); at == nil || at.After(latest) {
		return latest
	}
	return *at
}

// crowdedCheck returns when to check a connection again if enough jobs of its provider wait: later if more are ahead
// of it.
func crowdedCheck(ahead, window int, now time.Time) time.Time {
	return now.Add(min(time.Duration(1+ahead/window)*passEvery, checkAtLeast))
}
