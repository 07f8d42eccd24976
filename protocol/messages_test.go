package protocol

import (
	"pgregory.net/rapid"

	"github.com/go-json-experiment/json/jsontext"
)

func text(t *rapid.T, label string) string { return someText.Draw(t, label) }
func flag(t *rapid.T, label string) bool   { return rapid.Bool().Draw(t, label) }

// messages draws a valid message of each type.
var messages = map[MessageType]func(*rapid.T) Message{
	TypeRecord: func(t *rapid.T) Message {
		r := &Record{Stream: text(t, "stream"), Key: someKey.Draw(t, "key"), Op: oneFrom(t, []Op{OpUpsert, OpDelete}, "op")}
		if r.Op == OpUpsert || flag(t, "has data") {
			r.Data, r.EmittedAt = anyObject.Draw(t, "data"), "2026-01-02"+anyText.Draw(t, "time")
		}
		return r
	},
	TypeState: func(t *rapid.T) Message {
		s := &State{Stream: text(t, "stream"), Cursor: cursors.Draw(t, "cursor"), Mode: oneFrom(t, CursorModes, "mode")}
		if flag(t, "has accounted") {
			s.Accounted = new(drawnCoverage(t))
		}
		return s
	},
	TypeProgress: drawnProgress,
	TypeInteraction: func(t *rapid.T) Message {
		return &Interaction{
			RequestID: text(t, "id"),
			Kind:      oneFrom(t, InteractionKinds, "kind"),
			Message:   text(t, "message"),
			Schema: maybe(
				t,
				anyObject,
				"schema",
			),
			Stream:         maybe(t, someText, "stream"),
			TimeoutSeconds: optional(t, positive, "timeout"),
		}
	},
	TypeSkipResult: func(t *rapid.T) Message {
		s := &SkipResult{
			Stream: text(t, "stream"), Reason: Reason(maybe(t, someText, "reason")), Message: optional(t, someText, "message"),
			Diagnostics: maybe(t, anyValue, "diagnostics"), RecoveryHint: drawnHint(t),
			ResourceIDs: texts.Draw(t, "ids"), Resources: texts.Draw(t, "resources"), TimeRange: maybe(t, ranges, "range"),
		}
		if flag(t, "has continuation") {
			start := rapid.Int64Range(0, 1000).Draw(t, "start")
			s.Continuation = &Continuation{
				Boundary: anyText.Draw(
					t,
					"boundary",
				),
				SliceStart: start,
				SliceEnd:   start + rapid.Int64Range(0, 9).Draw(t, "length"),
				Considered: safeInts.Draw(t, "considered"),
				Covered:    safeInts.Draw(t, "covered"),
				Remaining:  true,
				Owner:      "runtime",
			}
		}
		return s
	},
	TypeDetailGap: func(t *rapid.T) Message {
		g := &DetailGap{
			Stream: text(t, "stream"), ParentStream: maybe(t, someKey, "parent"), RecordKey: WireKey(someKey.Draw(t, "key")),
			Reason: Reason(text(t, "reason")), Retryable: flag(t, "retryable"), DetailLocator: maybe(t, anyObject, "locator"),
			ListCursor: maybe(t, anyObject, "list"), LastError: maybe(t, anyObject, "error"),
			Status: oneFrom(t, []GapStatus{"", GapPending}, "status"), ReferenceOnly: flag(t, "reference_only"),
		}
		if flag(t, "has detail") {
			http := rapid.IntRange(0, 599).Draw(t, "http")
			g.Detail = &GapDetail{Class: anyText.Draw(t, "class"), HTTPStatus: http, NetworkPressure: flag(t, "pressure")}
		}
		if flag(t, "has lease") {
			g.GapID, g.LeaseID = text(t, "gap"), text(t, "lease")
		}
		return g
	},
	TypeDetailCoverage: func(t *rapid.T) Message {
		count := rapid.Map(safeInts, CountOf)
		return &DetailCoverage{
			Stream:      text(t, "stream"),
			StateStream: text(t, "state stream"),
			KeyCoverage: drawnCoverage(t),
			Considered: maybe(
				t,
				count,
				"considered",
			),
			Covered:       maybe(t, count, "covered"),
			ReferenceOnly: flag(t, "reference_only"),
		}
	},
	TypeDetailGapsPageRequest: func(t *rapid.T) Message {
		return &DetailGapsPageRequest{
			RequestID: text(t, "id"), ReferenceOnly: flag(t, "reference_only"),
			Streams: texts.Draw(t, "streams"), MaxBytes: optional(t, rapid.Int64Min(1), "bytes"),
		}
	},
	TypeDetailGapAttempted: func(t *rapid.T) Message {
		return &DetailGapAttempted{
			GapID:         text(t, "gap"),
			LeaseID:       text(t, "lease"),
			Stream:        text(t, "stream"),
			ReferenceOnly: true,
		}
	},
	TypeDetailGapRecovered: func(t *rapid.T) Message {
		return &DetailGapRecovered{
			GapID: text(t, "gap"), Stream: text(t, "stream"), LeaseID: maybe(t, someText, "lease"),
			RecordKey: WireKey(maybe(t, someKey, "key")), ReferenceOnly: true,
		}
	},
	TypeAssistance: func(t *rapid.T) Message {
		a := &Assistance{
			RequestID: text(
				t,
				"id",
			),
			Posture:        oneFrom(t, ProgressPostures, "posture"),
			OwnerAction:    oneFrom(t, OwnerActions, "action"),
			Response:       "none",
			Message:        text(t, "message"),
			Sensitivity:    maybe(t, rapid.SampledFrom(Sensitivities), "sensitivity"),
			TimeoutSeconds: optional(t, positive, "timeout"),
			InputSchema:    maybe(t, anyObject, "schema"),
		}
		for range rapid.IntRange(0, 2).Draw(t, "attachments") {
			extra := oneFrom(t, []jsontext.Value{nil, raw(`{"ref":"\u2028"}`), raw(`{"label":{"a":[]},"x":1.0}`)}, "extra")
			a.Attachments = append(a.Attachments, Attachment{Kind: oneFrom(t, AttachmentKinds, "kind"), Extra: extra})
		}
		return a
	},
	TypeAssistanceStatus: func(t *rapid.T) Message {
		return &AssistanceStatus{RequestID: text(t, "id"), Status: oneFrom(t, AssistanceOutcomes, "status")}
	},
	TypeDone: func(t *rapid.T) Message {
		d := &Done{Status: oneFrom(t, DoneStatuses, "status"), RecordsEmitted: rapid.Int64Min(0).Draw(t, "records")}
		if d.Status != DoneSucceeded && flag(t, "has error") {
			d.Error = &DoneError{
				Code: maybe(t, rapid.StringMatching(errorCode.String()), "code"), Message: maybe(t, someText, "message"),
				Retryable: optional(t, rapid.Bool(), "retryable"), RecoveryHint: drawnHint(t),
			}
		}
		return d
	},
	TypeStart: func(t *rapid.T) Message {
		states := rapid.MapOfN(anyText, cursors, 0, 3)
		s := &Start{
			RunID: text(t, "run"), CollectionMode: oneFrom(t, CollectionModes, "mode"),
			State: maybe(t, states, "state"), CatchUpState: maybe(t, states, "catch-up"),
			Bindings:   rapid.MapOfN(anyText, anyObject, 0, 3).Draw(t, "bindings"),
			DetailGaps: drawnEntries(t), RecoveryOnly: flag(t, "recovery_only"),
		}
		for range rapid.IntRange(1, 3).Draw(t, "streams") {
			s.Scope.Streams = append(s.Scope.Streams, StreamScope{
				Name: text(t, "name"), Resources: texts.Draw(t, "resources"),
				TimeRange: maybe(t, ranges, "range"), Fields: texts.Draw(t, "fields"),
			})
		}
		return s
	},
	TypeCredentialRequest: func(t *rapid.T) Message {
		if rapid.Bool().Draw(t, "expired") {
			return &CredentialRequest{RequestID: text(t, "id"), Reason: CredentialExpired}
		}
		return &CredentialRequest{
			RequestID: text(t, "id"),
			Reason:    CredentialRotated,
			Values:    map[string]string{text(t, "name"): text(t, "value")},
		}
	},
	TypeCredentialResponse: func(t *rapid.T) Message {
		m := &CredentialResponse{RequestID: text(t, "id"), Status: oneFrom(t, CredentialOutcomes, "status")}
		if m.Status == CredentialRenewed {
			m.Values = map[string]string{text(t, "name"): text(t, "value")}
		}
		return m
	},
	TypeAllowance:      drawnAllowance,
	TypeAllowanceShare: drawnShare,
	TypeWalk:           drawnWalk,
	TypeWalkMissing:    drawnMissing,
	TypeInteractionResponse: func(t *rapid.T) Message {
		r := &InteractionResponse{RequestID: text(t, "id"), Status: oneFrom(t, ResponseStatuses, "status")}
		if r.Status == ResponseSuccess {
			r.Data = maybe(t, anyObject, "data")
		}
		return r
	},
	TypeDetailGapsPageResponse: func(t *rapid.T) Message {
		return &DetailGapsPageResponse{
			RequestID:     text(t, "id"),
			ReferenceOnly: flag(t, "reference_only"),
			DetailGaps:    drawnEntries(t),
		}
	},
}

func drawnProgress(t *rapid.T) Message {
	p := &Progress{
		Message: text(t, "message"), Stream: maybe(t, someText, "stream"),
		Count: optional(t, amounts, "count"), Total: optional(t, amounts, "total"),
	}
	if flag(t, "has rate") {
		p.CollectionRate = &CollectionRate{
			Object:              "collection_rate",
			CurrentIntervalMS:   amounts.Draw(t, "current"),
			CeilingIntervalMS:   amounts.Draw(t, "ceiling"),
			EffectiveRatePerMin: amounts.Draw(t, "rate"),
			CeilingRatePerMin:   amounts.Draw(t, "ceiling rate"),
		}
		if flag(t, "has backoff") {
			p.CollectionRate.LastBackoff = &RateBackoff{
				AtIntervalMS: amounts.Draw(t, "at"),
				Reason:       oneFrom(t, RateBackoffReasons, "why"),
			}
		}
	}
	if flag(t, "has budget") {
		p.ProviderBudget = &ProviderBudget{
			Object:       "provider_budget_circuit_transition",
			ElapsedMS:    amounts.Draw(t, "elapsed"),
			RequestCount: amounts.Draw(t, "requests"),
			RetryTokens:  oneFrom(t, []jsontext.Value{nil, raw(`"unbounded"`), raw(`2.5`), raw(`0`)}, "tokens"),
			Circuit: CircuitChange{
				Previous: oneFrom(t, CircuitStates, "from"), State: oneFrom(t, CircuitStates, "to"),
				Reason: oneFrom(t, CircuitReasons, "reason"), Trigger: oneFrom(t, CircuitTriggers, "trigger"),
			},
		}
	}
	if flag(t, "has wait") {
		p.ProviderWait = &ProviderWait{
			Sender: rapid.StringMatching(`[a-z]{1,9}`).
				Draw(t, "sender"),
			WaitMS: positive.Draw(t, "wait"),
			Reason: oneFrom(t, WaitReasons, "why wait"),
		}
	}
	if p.Stream != "" && flag(t, "has drift") {
		p.AnswerDrift = &AnswerDrift{
			Answers: rapid.Int64Range(0, 9).Draw(t, "answers"), Total: &AnnouncedTotal{Announced: 3, Counted: 2},
			Differences: []AnswerDifference{{Kind: oneFrom(t, DifferenceKinds, "kind"), Route: "GET v1/entries",
				Member: "entries/[]/author", Count: 1}},
			Beginning: &HistoryBeginning{Days: oneFrom(t, HistoryBounds, "days")},
		}
	}
	if flag(t, "has attachments") {
		p.AttachmentRecovery, p.AttachmentHydration = raw(
			`{"served":9,"hydration_failed":3}`,
		), raw(
			`{"download":1,"upload":2}`,
		)
	}
	return p
}
