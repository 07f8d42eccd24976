package protocol

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

func (m *Progress) check() *Violation {
	if v := firstBroken(
		rule{m.Message != "", "message: a non-empty string"},
		rule{m.Count == nil || *m.Count >= 0, "count: a number >= 0"},
		rule{m.Total == nil || *m.Total >= 0, "total: a number >= 0"},
		attachmentRule(&m.AttachmentRecovery, &m.AttachmentHydration),
	); v != nil {
		return v
	}
	if r := m.CollectionRate; r != nil {
		if v := r.check(); v != nil {
			return v
		}
	}
	if b := m.ProviderBudget; b != nil {
		if v := b.check(); v != nil {
			return v
		}
	}
	if w := m.ProviderWait; w != nil {
		if v := w.check(); v != nil {
			return v
		}
	}
	if d := m.AnswerDrift; d != nil {
		if m.Stream == "" {
			return firstBroken(rule{want: "answer_drift: a stream beside it"})
		}
		return d.Check()
	}
	return nil
}

// maxSender bounds the name of a sender, which is shown to the owner.
const maxSender = 200

func (w *ProviderWait) check() *Violation {
	return firstBroken(
		rule{!blank(w.Sender) && len(w.Sender) <= maxSender, "provider_wait.sender: a non-blank string of at most 200 bytes"},
		rule{w.WaitMS > 0, "provider_wait.wait_ms: a number > 0"},
		enum("provider_wait.reason", w.Reason, WaitReasons),
	)
}

func (r *CollectionRate) check() *Violation {
	v := firstBroken(
		rule{r.Object == "collection_rate", `collection_rate.object: "collection_rate"`},
		rule{min(r.CurrentIntervalMS, r.CeilingIntervalMS, r.EffectiveRatePerMin, r.CeilingRatePerMin) >= 0, "collection_rate: numbers >= 0"},
	)
	if v == nil && r.LastBackoff != nil {
		v = firstBroken(
			rule{r.LastBackoff.AtIntervalMS >= 0, "last_backoff.at_interval_ms: a number >= 0"},
			enum("last_backoff.reason", r.LastBackoff.Reason, RateBackoffReasons),
		)
	}
	return v
}

func (b *ProviderBudget) check() *Violation {
	dropNull(&b.RetryTokens)
	return firstBroken(
		rule{b.Object == "provider_budget_circuit_transition", `provider_budget.object: "provider_budget_circuit_transition"`},
		enum("circuit.previous_state", b.Circuit.Previous, CircuitStates),
		enum("circuit.state", b.Circuit.State, CircuitStates),
		enum("circuit.reason", b.Circuit.Reason, CircuitReasons),
		enum("circuit.trigger", b.Circuit.Trigger, CircuitTriggers),
		rule{min(b.ElapsedMS, b.RequestCount) >= 0, "provider_budget: numbers >= 0"},
		rule{retryTokens(b.RetryTokens), `retry_tokens_remaining: a number >= 0 or "unbounded"`},
	)
}

func retryTokens(v jsontext.Value) bool {
	return v == nil || string(v) == `"unbounded"` || v.Kind() == '0' && v[0] != '-'
}

// attachmentRule holds the two attachment outcomes to each other: the failure
// stages of the second add up to the failures that the first one counts.
func attachmentRule(recovery, hydration *jsontext.Value) rule {
	dropNull(recovery)
	dropNull(hydration)
	if *recovery == nil && *hydration == nil {
		return rule{holds: true}
	}
	if *recovery == nil || *hydration == nil {
		return rule{want: "both attachment outcomes or neither"}
	}
	recovered, ok1 := outcomeCounts("attachment_recovery_outcome", *recovery)
	stages, ok2 := outcomeCounts("attachment_hydration_failure_outcome", *hydration)
	if !ok1 || !ok2 {
		return rule{want: "attachment outcomes: objects of counts"}
	}
	failed := recovered["hydration_failed"]
	for _, n := range stages {
		failed -= n
	}
	return rule{failed == 0, "attachment failure stages: as many as hydration_failed"}
}

// outcomeCounts reads an object of counts, which may carry its own name as "object".
func outcomeCounts(name string, v jsontext.Value) (map[string]int64, bool) {
	var raw map[string]jsontext.Value
	if json.Unmarshal(v, &raw) != nil {
		return nil, false
	}
	counts := make(map[string]int64, len(raw))
	for member, v := range raw {
		if member == "object" {
			if string(v) != `"`+name+`"` {
				return nil, false
			}
			continue
		}
		n, ok := safeCount(v)
		if !ok {
			return nil, false
		}
		counts[member] = n
	}
	return counts, true
}
