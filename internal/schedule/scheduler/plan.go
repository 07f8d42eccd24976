package scheduler

import (
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/cadence"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// When to look at a connection again.
const (
	// checkAtLeast is how soon a connection is checked again that nothing touches.
	// What time alone changes, such as freshness, is noticed within it.
	checkAtLeast = 15 * time.Minute
	// checkQueued is how soon one is checked again that got a job, in case the
	// job's worker dies before it begins, or whose facts could not be read.
	checkQueued = 20 * time.Second
)

// order is one run that is to be made, and why.
type order struct {
	*evidence.Evidence
	trigger      store.Trigger
	recoveryOnly bool
	spare        bool                   // leave gaps alone that the source's pressure left
	askAnyway    bool                   // the owner does not want to wait for the provider
	scope        []protocol.StreamScope // single records to fetch; empty means everything
	grantID      string                 // the grant that alone asks for it; empty when the owner or the schedule does
	lastRunID    string                 // the run that was made of it last; empty while there is none
}

// decide gives the run that the facts ask for at this moment; nil when they ask
// for none, and then when to look again. Passes and workers decide alike. The requests
// that wait, the oldest first, ask for a run whatever the schedule says. While the
// provider is to be left alone they wait like everything else, unless the owner has said
// that it is to be asked anyway.
func decide(e *evidence.Evidence, requests []store.RunRequest, now time.Time) (*order, time.Time) {
	if e.Connection.SourceKind == evidence.SourceLocalDevice {
		return nil, nextCheck(nil, now) // a device collects it, and hears of what is asked for by its heartbeat
	}
	d := cadence.Decide(e, now)
	wait := e.WaitInForce(now)
	for _, request := range requests {
		if !honoured(&request, d) || wait != nil && !request.AskAnyway {
			continue
		}
		// What is put back from a cool-down still spares the source.
		spare := request.RecoveryOnly && request.Trigger == store.TriggerScheduled
		o := &order{Evidence: e, trigger: request.Trigger, recoveryOnly: request.RecoveryOnly, spare: spare, askAnyway: request.AskAnyway, grantID: request.GrantID}
		if o.scope = request.Scope; len(o.scope) > 0 { // what else is asked for follows
			o.recoveryOnly, o.spare = false, false
		}
		return o, now
	}
	switch {
	case d.Due:
		return &order{Evidence: e, trigger: store.TriggerScheduled, recoveryOnly: d.RecoveryOnly, spare: d.RecoveryOnly}, now
	case len(requests) > 0 && wait != nil:
		return nil, nextCheck(&wait.Until, now)
	case d.Why == cadence.Unreadable: // nothing touches the connection when its facts can be read again
		return nil, now.Add(checkQueued)
	default:
		return nil, nextCheck(d.At, now)
	}
}

// honoured reports whether the request is answered now, as far as the schedule is
// concerned. A scheduled run that a worker had to stop goes on out of turn, and
// otherwise obeys what the schedule obeys: a pause since then counts.
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

// nextCheck is when to look again at a connection for which no run is asked, and for
// which one may be at a moment; nil means that this is not a matter of time.
func nextCheck(at *time.Time, now time.Time) time.Time {
	if latest := now.Add(checkAtLeast); at == nil || at.After(latest) {
		return latest
	}
	return *at
}

// crowded is when to look again at a connection for whose provider enough jobs
// wait: later, the more are ahead of it.
func crowded(ahead, window int, now time.Time) time.Time {
	return now.Add(min(time.Duration(1+ahead/window)*passEvery, checkAtLeast))
}
