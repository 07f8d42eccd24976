package protocol

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

func (m *Progress) check() *Violation {
	if v := firstBroken(
		messageRule{m.Message != "", "message: a non-empty string"},
		messageRule{m.Count == nil || *m.Count >= 0, "count: a number >= 0"},
		messageRule{m.Total == nil || *m.Total >= 0, "total: a number >= 0"},
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
			return firstBroken(messageRule{want: "answer_drift: a stream beside it"})
		}
		return d.Check()
	}
	return nil
}

// maxSender bounds the name of a sender, which is shown to the owner.
const maxSender = 200

func (w *ProviderWait) check() *Violation {
	return firstBroken(
		messageRule{!isBlank(w.Sender) && len(w.Sender) <= maxSender,
			"provider_wait.sender: a non-blank string of at most 200 bytes"},
		messageRule{w.WaitMS > 0, "provider_wait.wait_ms: a number > 0"},
		enumRule("provider_wait.reason", w.Reason, WaitReasons),
	)
}

func (r *CollectionRate) check() *Violation {
	v := firstBroken(
		messageRule{r.Object == "collection_rate", `collection_rate.object: "collection_rate"`},
		messageRule{
			min(r.CurrentIntervalMS, r.CeilingIntervalMS, r.EffectiveRatePerMin, r.CeilingRatePerMin) >= 0,
			"collection_rate: numbers >= 0",
		},
	)
	if v == nil && r.LastBackoff != nil {
		v = firstBroken(
			messageRule{r.LastBackoff.AtIntervalMS >= 0, "last_backoff.at_interval_ms: a number >= 0"},
			enumRule("last_backoff.reason", r.LastBackoff.Reason, RateBackoffReasons),
		)
	}
	return v
}

func (b *ProviderBudget) check() *Violation {
	dropNull(&b.RetryTokens)
	return firstBroken(
		messageRule{
			b.Object == "provider_budget_circuit_transition",
			`provider_budget.object: "provider_budget_circuit_transition"`,
		},
		enumRule("circuit.previous_state", b.Circuit.Previous, CircuitStates),
		enumRule("circuit.state", b.Circuit.State, CircuitStates),
		enumRule("circuit.reason", b.Circuit.Reason, CircuitReasons),
		enumRule("circuit.trigger", b.Circuit.Trigger, CircuitTriggers),
		messageRule{min(b.ElapsedMS, b.RequestCount) >= 0, "provider_budget: numbers >= 0"},
		messageRule{retryTokens(b.RetryTokens), `retry_tokens_remaining: a number >= 0 or "unbounded"`},
	)
}

func retryTokens(v jsontext.Value) bool {
	return v == nil || string(v) == `"unbounded"` || v.Kind() == '0' && v[0] != '-'
}

// attachmentRule compares the two attachment outcomes: the failure stages of the second must add up to the
// failures of the first.
func attachmentRule(recovery, hydration *jsontext.Value) messageRule {
	dropNull(recovery)
	dropNull(hydration)
	if *recovery == nil && *hydration == nil {
		return messageRule{holds: true}
	}
	if *recovery == nil || *hydration == nil {
		return messageRule{want: "both attachment outcomes or neither"}
	}
	recovered, ok1 := outcomeCounts("attachment_recovery_outcome", *recovery)
	stages, ok2 := outcomeCounts("attachment_hydration_failure_outcome", *hydration)
	if !ok1 || !ok2 {
		return messageRule{want: "attachment outcomes: objects of counts"}
	}
	failed := recovered["hydration_failed"]
	for _, n := range stages {
		failed -= n
	}
	return messageRule{failed == 0, "attachment failure stages: as many as hydration_failed"}
}

// outcomeCounts parses an object of counts, which may contain its own name as "object".
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
