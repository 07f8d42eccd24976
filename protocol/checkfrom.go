package protocol

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

func (m *State) check() *Violation {
	if v := firstBroken(
		rule{!blank(m.Stream), "stream: a non-blank string"},
		rule{m.Cursor.Kind() == '{' || m.Cursor.Kind() == 'n', "cursor: an object or null"},
		optionalEnum("mode", m.Mode, CursorModes),
	); v != nil || m.Accounted == nil {
		return v
	}
	return m.Accounted.check()
}

// check holds the coverage rules: no key twice, every outcome considered, one outcome per key.
func (k *KeyCoverage) check() *Violation {
	seen := make(map[string]bool, len(k.RequiredKeys)) // false until an outcome names the key
	for _, key := range k.RequiredKeys {
		if _, dup := seen[key]; dup {
			return &Violation{Subtype: InvalidCoverage, Expected: []string{"each required key once"}}
		}
		seen[key] = false
	}
	for _, set := range []KeyList{k.HydratedKeys, k.GapKeys, k.OptionalSkipKeys} {
		for _, key := range set {
			done, required := seen[key]
			switch {
			case !required:
				return &Violation{Subtype: InvalidCoverage, Expected: []string{"every outcome key to be in required_keys"}}
			case done:
				return &Violation{Subtype: InvalidCoverage, Expected: []string{"exactly one outcome per key"}}
			}
			seen[key] = true
		}
	}
	return nil
}

func (m *Progress) check() *Violation {
	if v := firstBroken(
		rule{m.Message != "", "message: a non-empty string"},
		rule{m.Count == nil || *m.Count >= 0, "count: a number >= 0"},
		rule{m.Total == nil || *m.Total >= 0, "total: a number >= 0"},
		rule{(m.AttachmentRecovery == nil) == (m.AttachmentHydration == nil), "both attachment outcomes or neither"},
		rule{countsObject(m.AttachmentRecovery) && countsObject(m.AttachmentHydration), "attachment outcomes: objects of counts"},
	); v != nil {
		return v
	}
	if r := m.CollectionRate; r != nil {
		if v := r.check(); v != nil {
			return v
		}
	}
	if b := m.ProviderBudget; b != nil {
		return b.check()
	}
	return nil
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

func countsObject(v jsontext.Value) bool {
	var counts map[string]uint64
	return v == nil || v.Kind() == '{' && json.Unmarshal(v, &counts) == nil
}

func (m *Interaction) check() *Violation {
	return firstBroken(
		rule{!blank(m.RequestID), "request_id: a non-blank string"},
		enum("kind", m.Kind, InteractionKinds),
		rule{!blank(m.Message), "message: a non-blank string"},
		rule{objectOr(m.Schema, true), "schema: an object"},
		rule{m.TimeoutSeconds == nil || *m.TimeoutSeconds > 0, "timeout_seconds: a number > 0"},
	)
}

func (m *SkipResult) check() *Violation {
	return firstBroken(
		rule{m.Message == nil || !blank(*m.Message), "message: non-blank when present"},
		rule{m.Reason != StreamCollectionFailed || m.Stream != "", "stream: named when reason is stream_collection_failed"},
		hintRule(m.RecoveryHint),
		rule{m.Continuation == nil || m.Continuation.valid(), "continuation: safe integers, slice_end >= slice_start, remaining true, owner runtime"},
	)
}

func (c *Continuation) valid() bool {
	n := []int64{c.SliceStart, c.SliceEnd, c.Considered, c.Covered}
	return slices.Min(n) >= 0 && slices.Max(n) <= maxSafeInt && c.SliceEnd >= c.SliceStart && c.Remaining && c.Owner == "runtime"
}

func hintRule(h *RecoveryHint) rule {
	if h == nil {
		return rule{holds: true}
	}
	return enum("recovery_hint.action", h.Action, RecoveryActions)
}

func (m *DetailGap) check() *Violation {
	return firstBroken(
		rule{!blank(m.Stream), "stream: a non-blank string"},
		rule{!blank(string(m.Reason)), "reason: a non-blank string"},
		rule{m.RecordKey != "" || m.DetailLocator != nil, "record_key or detail_locator"},
		rule{objectOr(m.DetailLocator, true), "detail_locator: an object"},
		rule{objectOr(m.ListCursor, true), "list_cursor: an object"},
		rule{objectOr(m.LastError, true), "last_error: an object"},
		rule{m.Status == "" || m.Status == GapPending, "status: pending"},
		rule{(m.GapID == "") == (m.LeaseID == ""), "gap_id and lease_id together"},
	)
}

func (m *DetailCoverage) check() *Violation {
	if v := firstBroken(
		rule{!blank(m.Stream), "stream: a non-blank string"},
		rule{!blank(m.StateStream), "state_stream: a non-blank string"},
	); v != nil {
		return v
	}
	return m.KeyCoverage.check()
}

func (m *DetailGapsPageRequest) check() *Violation {
	return firstBroken(
		rule{!blank(m.RequestID), "request_id: a non-blank string"},
		rule{m.MaxBytes == nil || *m.MaxBytes > 0, "max_bytes: a number > 0"},
	)
}

func (m *DetailGapAttempted) check() *Violation {
	return firstBroken(
		rule{!blank(m.GapID), "gap_id: a non-blank string"},
		rule{!blank(m.LeaseID), "lease_id: a non-blank string"},
		rule{!blank(m.Stream), "stream: a non-blank string"},
	)
}

func (m *DetailGapRecovered) check() *Violation {
	return firstBroken(
		rule{!blank(m.GapID), "gap_id: a non-blank string"},
		rule{!blank(m.Stream), "stream: a non-blank string"},
	)
}

func (m *Assistance) check() *Violation {
	rules := []rule{
		{!blank(m.RequestID), "assistance_request_id: a non-blank string"},
		enum("progress_posture", m.Posture, ProgressPostures),
		enum("owner_action", m.OwnerAction, OwnerActions),
		{m.Response == "none", "response_contract: none"},
		{!blank(m.Message), "message: a non-blank string"},
		optionalEnum("sensitivity", m.Sensitivity, Sensitivities),
		{m.TimeoutSeconds == nil || *m.TimeoutSeconds > 0, "timeout_seconds: a number > 0"},
		{objectOr(m.InputSchema, true), "input_schema: an object"},
	}
	for _, a := range m.Attachments {
		rules = append(rules, enum("attachments.kind", a.Kind, AttachmentKinds))
	}
	return firstBroken(rules...)
}

func (m *AssistanceStatus) check() *Violation {
	return firstBroken(
		rule{!blank(m.RequestID), "assistance_request_id: a non-blank string"},
		enum("status", m.Status, AssistanceOutcomes),
	)
}

func (m *Done) check() *Violation {
	v := firstBroken(
		enum("status", m.Status, DoneStatuses),
		rule{m.RecordsEmitted >= 0, "records_emitted: an integer >= 0"},
		rule{m.Error == nil || m.Status != DoneSucceeded, "no error when succeeded"},
	)
	if v != nil || m.Error == nil {
		return v
	}
	return firstBroken(
		rule{m.Error.Code == "" || errorCode.MatchString(m.Error.Code), "error.code: " + errorCode.String()},
		rule{m.Error.Message == "" || strings.TrimSpace(m.Error.Message) != "", "error.message: non-blank"},
		hintRule(m.Error.RecoveryHint),
	)
}
