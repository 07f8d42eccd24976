package protocol

import (
	"slices"
	"strings"
)

func (m *State) check() *Violation {
	if v := firstBroken(
		messageRule{!isBlank(m.Stream), "stream: a non-blank string"},
		messageRule{m.Cursor.Kind() == '{' || m.Cursor.Kind() == 'n', "cursor: an object or null"},
		optionalEnum("mode", m.Mode, CursorModes),
	); v != nil || m.Accounted == nil {
		return v
	}
	return m.Accounted.check()
}

// check validates the coverage: no key twice, every outcome among the considered keys, one outcome per key.
func (k *KeyCoverage) check() *Violation {
	seen := make(map[string]bool, len(k.RequiredKeys)) // false until an outcome lists the key
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
		messageRule{!isBlank(m.RequestID), "request_id: a non-blank string"},
		enumRule("kind", m.Kind, InteractionKinds),
		messageRule{!isBlank(m.Message), "message: a non-blank string"},
		optionalObject("schema", &m.Schema),
		messageRule{m.TimeoutSeconds == nil || *m.TimeoutSeconds > 0, "timeout_seconds: a number > 0"},
	)
}

func (m *CredentialRequest) check() *Violation {
	return firstBroken(
		messageRule{!isBlank(m.RequestID), "request_id: a non-blank string"},
		enumRule("reason", m.Reason, CredentialReasons),
		messageRule{m.Reason != CredentialRotated || len(m.Values) > 0, "values: at least one variable"},
		messageRule{m.Reason == CredentialRotated || len(m.Values) == 0, "values: none unless the reason is rotated"},
	)
}

func (m *SkipResult) check() *Violation {
	dropNull(&m.Diagnostics)
	return firstBroken(
		messageRule{m.Message == nil || !isBlank(*m.Message), "message: non-blank when present"},
		messageRule{m.Reason != StreamCollectionFailed || m.Stream != "",
			"stream: named when reason is stream_collection_failed"},
		hintRule(m.RecoveryHint),
		messageRule{
			m.Continuation == nil || m.Continuation.valid(),
			"continuation: safe integers, slice_end >= slice_start, remaining true, owner runtime",
		},
	)
}

func (c *Continuation) valid() bool {
	n := []int64{c.SliceStart, c.SliceEnd, c.Considered, c.Covered}
	return slices.Min(n) >= 0 && slices.Max(n) <= maxSafeInt && c.SliceEnd >= c.SliceStart && c.Remaining &&
		c.Owner == "runtime"
}

func hintRule(h *RecoveryHint) messageRule {
	if h == nil {
		return messageRule{holds: true}
	}
	return enumRule("recovery_hint.action", h.Action, RecoveryActions)
}

func (m *DetailGap) check() *Violation {
	return firstBroken(
		messageRule{!isBlank(m.Stream), "stream: a non-blank string"},
		messageRule{!isBlank(string(m.Reason)), "reason: a non-blank string"},
		messageRule{m.ParentStream == "" || !isBlank(m.ParentStream), "parent_stream: non-blank when present"},
		optionalObject("detail_locator", &m.DetailLocator),
		optionalObject("list_cursor", &m.ListCursor),
		optionalObject("last_error", &m.LastError),
		messageRule{m.RecordKey != "" || m.DetailLocator != nil, "record_key or detail_locator"},
		messageRule{m.Status == "" || m.Status == GapPending, "status: pending"},
		messageRule{(m.GapID == "") == (m.LeaseID == ""), "gap_id and lease_id together"},
	)
}

func (m *DetailCoverage) check() *Violation {
	if v := firstBroken(
		messageRule{!isBlank(m.Stream), "stream: a non-blank string"},
		messageRule{!isBlank(m.StateStream), "state_stream: a non-blank string"},
	); v != nil {
		return v
	}
	return m.KeyCoverage.check()
}

func (m *DetailGapsPageRequest) check() *Violation {
	return firstBroken(
		messageRule{!isBlank(m.RequestID), "request_id: a non-blank string"},
		messageRule{m.MaxBytes == nil || *m.MaxBytes > 0, "max_bytes: a number > 0"},
	)
}

func (m *DetailGapAttempted) check() *Violation {
	return firstBroken(
		messageRule{!isBlank(m.GapID), "gap_id: a non-blank string"},
		messageRule{!isBlank(m.LeaseID), "lease_id: a non-blank string"},
		messageRule{!isBlank(m.Stream), "stream: a non-blank string"},
	)
}

func (m *DetailGapRecovered) check() *Violation {
	return firstBroken(
		messageRule{!isBlank(m.GapID), "gap_id: a non-blank string"},
		messageRule{!isBlank(m.Stream), "stream: a non-blank string"},
	)
}

func (m *Assistance) check() *Violation {
	rules := []messageRule{
		{!isBlank(m.RequestID), "assistance_request_id: a non-blank string"},
		enumRule("progress_posture", m.Posture, ProgressPostures),
		enumRule("owner_action", m.OwnerAction, OwnerActions),
		{m.Response == "none", "response_contract: none"},
		{!isBlank(m.Message), "message: a non-blank string"},
		optionalEnum("sensitivity", m.Sensitivity, Sensitivities),
		{m.TimeoutSeconds == nil || *m.TimeoutSeconds > 0, "timeout_seconds: a number > 0"},
		optionalObject("input_schema", &m.InputSchema),
	}
	for _, a := range m.Attachments {
		rules = append(rules, enumRule("attachments.kind", a.Kind, AttachmentKinds))
	}
	return firstBroken(rules...)
}

func (m *AssistanceStatus) check() *Violation {
	return firstBroken(
		messageRule{!isBlank(m.RequestID), "assistance_request_id: a non-blank string"},
		enumRule("status", m.Status, AssistanceOutcomes),
	)
}

func (m *Done) check() *Violation {
	v := firstBroken(
		enumRule("status", m.Status, DoneStatuses),
		messageRule{m.RecordsEmitted >= 0, "records_emitted: an integer >= 0"},
		messageRule{m.Error == nil || m.Status != DoneSucceeded, "no error when succeeded"},
	)
	if v != nil || m.Error == nil {
		return v
	}
	return firstBroken(
		messageRule{m.Error.Code == "" || errorCode.MatchString(m.Error.Code), "error.code: " + errorCode.String()},
		messageRule{m.Error.Message == "" || strings.TrimSpace(m.Error.Message) != "", "error.message: non-blank"},
		hintRule(m.Error.RecoveryHint),
	)
}
