package protocol

import (
	"slices"
	"strings"
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

func (m *Interaction) check() *Violation {
	return firstBroken(
		rule{!blank(m.RequestID), "request_id: a non-blank string"},
		enum("kind", m.Kind, InteractionKinds),
		rule{!blank(m.Message), "message: a non-blank string"},
		optionalObject("schema", &m.Schema),
		rule{m.TimeoutSeconds == nil || *m.TimeoutSeconds > 0, "timeout_seconds: a number > 0"},
	)
}

func (m *CredentialRequest) check() *Violation {
	return firstBroken(
		rule{!blank(m.RequestID), "request_id: a non-blank string"},
		enum("reason", m.Reason, CredentialReasons),
		rule{m.Reason != CredentialRotated || len(m.Values) > 0, "values: at least one variable"},
		rule{m.Reason == CredentialRotated || len(m.Values) == 0, "values: none unless the reason is rotated"},
	)
}

func (m *SkipResult) check() *Violation {
	dropNull(&m.Diagnostics)
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
		rule{m.ParentStream == "" || !blank(m.ParentStream), "parent_stream: non-blank when present"},
		optionalObject("detail_locator", &m.DetailLocator),
		optionalObject("list_cursor", &m.ListCursor),
		optionalObject("last_error", &m.LastError),
		rule{m.RecordKey != "" || m.DetailLocator != nil, "record_key or detail_locator"},
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
		optionalObject("input_schema", &m.InputSchema),
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
