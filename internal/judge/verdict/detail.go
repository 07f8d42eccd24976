package verdict

import "github.com/pdpp-go/pdpp/internal/judge/health"

// Members of Detail that a suppressed signal refers to.
const (
	fieldNextAttempt = "next_attempt_at"
	fieldBacklog     = "detail_gap_backlog"
	fieldConditions  = "conditions"
)

// Reasons of suppressed signals.
const (
	whyAttemptPlanned = "next_attempt_planned"
	whyBackoff        = "backoff_active"
	whyGapsWaiting    = "gaps_wait_for_a_run"
	whyGapsRecovered  = "gaps_recovered"
	whyUploading      = "device_uploading"
	whySelfHandled    = "handled_by_a_run"
	whyRunActive      = "run_active"
	whyRuntimeFault   = "runtime_fault_capped_channel"
)

// buildDetail returns all evidence of the snapshot unchanged, including what the attention layer leaves out.
func buildDetail(r *reading, actions []RequiredAction, capped bool) Detail {
	s := &r.in.Snapshot
	d := Detail{
		State: s.State, ReasonCode: s.ReasonCode, DominantID: s.DominantID, Disposition: s.Disposition,
		Conditions: s.Conditions, Backlog: s.Backlog, NextAttemptAt: s.NextAttemptAt, Rate: s.Rate,
		Suppressed: []Suppressed{},
	}
	if d.Conditions == nil {
		d.Conditions = []health.Condition{}
	}
	if field, why := cooldownSignal(r); field != "" {
		d.Suppressed = append(d.Suppressed, Suppressed{SuppressedCooldown, field, why})
	}
	if field, why := drainSignal(r, actions); field != "" {
		d.Suppressed = append(d.Suppressed, Suppressed{SuppressedDrain, field, why})
	}
	if r.syncing {
		d.Suppressed = append(d.Suppressed, Suppressed{SuppressedSyncing, fieldConditions, whyRunActive})
	}
	if capped {
		d.Suppressed = append(d.Suppressed, Suppressed{SuppressedRuntimeFault, fieldConditions, whyRuntimeFault})
	}
	return d
}

// cooldownSignal returns the pause after failures or pressure, if there is one. Waiting for the next scheduled run is
// not suppressed.
func cooldownSignal(r *reading) (field, why string) {
	pausing := r.state() == health.CoolingOff || r.underPressure() || r.delayed
	switch {
	case !pausing:
		return "", ""
	case r.in.Snapshot.NextAttemptAt != nil:
		return fieldNextAttempt, whyAttemptPlanned
	default:
		return fieldConditions, whyBackoff
	}
}

func drainSignal(r *reading, actions []RequiredAction) (field, why string) {
	b := r.in.Snapshot.Backlog
	switch {
	case b != nil && (b.Pending > 0 || b.PendingOther > 0):
		return fieldBacklog, whyGapsWaiting
	case b != nil && b.Recovered != nil && *b.Recovered > 0:
		return fieldBacklog, whyGapsRecovered
	case r.in.Snapshot.Axes.Outbox == health.OutboxActive:
		return fieldConditions, whyUploading
	case r.resumable() && r.reportedTotals() == nil && hasAction(actions, WaitAction):
		return fieldConditions, whySelfHandled
	default:
		return "", ""
	}
}

// buildTrace returns why the verdict is what it is.
func buildTrace(v *Verdict, inputs []ToneInput, toneCause, channelCause string, capped bool) Trace {
	t := Trace{
		ToneInputs: inputs, ToneCause: toneCause, ChannelCause: channelCause, RuntimeCapped: capped,
		SuppressedEvidence: make([]SuppressedKind, 0, len(v.Detail.Suppressed)),
		DetailDestinations: make([]string, 0, len(v.Detail.Suppressed)),
	}
	if len(v.RequiredActions) > 0 {
		primary := &v.RequiredActions[0]
		t.PrimaryActionKind, t.SatisfiedWhen = &primary.Kind, &primary.SatisfiedWhen.Kind
	}
	for _, s := range v.Detail.Suppressed {
		t.SuppressedEvidence = append(t.SuppressedEvidence, s.Kind)
		t.DetailDestinations = append(t.DetailDestinations, s.DetailField)
	}
	return t
}
