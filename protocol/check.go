package protocol

import (
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// newMessage returns an empty message of the type, or nil for an unknown type.
func newMessage(name MessageType) Message {
	switch name {
	case TypeRecord:
		return &Record{}
	case TypeState:
		return &State{}
	case TypeProgress:
		return &Progress{}
	case TypeInteraction:
		return &Interaction{}
	case TypeSkipResult:
		return &SkipResult{}
	case TypeDetailGap:
		return &DetailGap{}
	case TypeDetailCoverage:
		return &DetailCoverage{}
	case TypeDetailGapsPageRequest:
		return &DetailGapsPageRequest{}
	case TypeDetailGapAttempted:
		return &DetailGapAttempted{}
	case TypeDetailGapRecovered:
		return &DetailGapRecovered{}
	case TypeAssistance:
		return &Assistance{}
	case TypeAssistanceStatus:
		return &AssistanceStatus{}
	case TypeCredentialRequest:
		return &CredentialRequest{}
	case TypeAllowance:
		return &Allowance{}
	case TypeWalk:
		return &Walk{}
	case TypeDone:
		return &Done{}
	case TypeStart:
		return &Start{}
	case TypeInteractionResponse:
		return &InteractionResponse{}
	case TypeDetailGapsPageResponse:
		return &DetailGapsPageResponse{}
	case TypeCredentialResponse:
		return &CredentialResponse{}
	case TypeAllowanceShare:
		return &AllowanceShare{}
	case TypeWalkMissing:
		return &WalkMissing{}
	default:
		return nil
	}
}

// requiredMembers must be present. A dotted member must be present if its object is: otherwise an absent number
// would decode as a measured zero.
var requiredMembers = map[MessageType][]string{
	TypeState: {"stream", "cursor", "accounted.required_keys", "accounted.hydrated_keys"},
	TypeProgress: {
		"message",
		"collection_rate.current_interval_ms", "collection_rate.ceiling_interval_ms",
		"collection_rate.effective_rate_per_min", "collection_rate.ceiling_rate_per_min",
		"collection_rate.last_backoff.at_interval_ms",
		"provider_budget.circuit", "provider_budget.elapsed_ms", "provider_budget.request_count",
		"provider_wait.sender", "provider_wait.wait_ms", "provider_wait.reason",
		"answer_drift.total.announced", "answer_drift.total.counted", "answer_drift.beginning.days",
	},
	TypeInteraction: {"request_id", "kind", "message"},
	TypeSkipResult: {
		"continuation.boundary", "continuation.slice_start", "continuation.slice_end",
		"continuation.considered", "continuation.covered",
	},
	TypeDetailGap:             {"stream", "reason", "retryable"},
	TypeDetailCoverage:        {"stream", "state_stream", "required_keys", "hydrated_keys"},
	TypeDetailGapsPageRequest: {"request_id"},
	TypeDetailGapAttempted:    {"gap_id", "lease_id", "stream"},
	TypeDetailGapRecovered:    {"gap_id", "stream"},
	TypeAssistance: {
		"assistance_request_id",
		"progress_posture",
		"owner_action",
		"response_contract",
		"message",
	},
	TypeAssistanceStatus:       {"assistance_request_id", "status"},
	TypeCredentialRequest:      {"request_id", "reason"},
	TypeAllowance:              {"sender"},
	TypeWalk:                   {"stream", "phase"},
	TypeDone:                   {"status", "records_emitted"},
	TypeStart:                  {"run_id", "collection_mode", "scope", "bindings"},
	TypeInteractionResponse:    {"request_id", "status"},
	TypeDetailGapsPageResponse: {"request_id", "detail_gaps"},
	TypeCredentialResponse:     {"request_id", "status"},
	TypeAllowanceShare:         {"sender", "runs", "place"},
	TypeWalkMissing:            {"request_id", "status", "keys"},
}

// referenceOnlyTypes are not part of the portable protocol and must be marked as such.
var referenceOnlyTypes = []MessageType{
	TypeDetailCoverage, TypeDetailGapsPageRequest, TypeDetailGapAttempted, TypeDetailGapRecovered,
}

func typeNames(dir Direction) []string {
	list := ConnectorTypes
	if dir == ToConnector {
		list = RunnerTypes
	}
	out := make([]string, len(list))
	for i, t := range list {
		out[i] = string(t)
	}
	return out
}

// messageRule is a condition that must hold, and its description.
type messageRule struct {
	holds bool
	want  string
}

func firstBroken(rules ...messageRule) *Violation {
	for _, r := range rules {
		if !r.holds {
			return &Violation{Subtype: InvalidField, Expected: []string{r.want}}
		}
	}
	return nil
}

func isBlank(s string) bool { return strings.TrimSpace(s) == "" }

// optionalObject accepts an object, an absent value and null.
func optionalObject(name string, v *jsontext.Value) messageRule {
	dropNull(v)
	return messageRule{*v == nil || v.Kind() == '{', name + ": an object"}
}

func dropNull(v *jsontext.Value) {
	if v.Kind() == 'n' {
		*v = nil
	}
}

func enumRule[T ~string](name string, v T, list []T) messageRule {
	if oneOf(v, list) {
		return messageRule{holds: true}
	}
	var words []string
	for _, w := range list {
		if w != "" {
			words = append(words, string(w))
		}
	}
	return messageRule{want: name + ": " + strings.Join(words, "|")}
}

func optionalEnum[T ~string](name string, v T, list []T) messageRule {
	if v == "" {
		return messageRule{holds: true}
	}
	return enumRule(name, v, list)
}

var errorCode = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
