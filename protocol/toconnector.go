package protocol

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Start is the first and only START of a run.
type Start struct {
	RunID          string         `json:"run_id"`
	CollectionMode CollectionMode `json:"collection_mode"`
	Scope          Scope          `json:"scope"`
	// State holds the steady-state cursors; nil when nothing is persisted.
	State Cursors `json:"state"`
	// CatchUpState holds the catch-up cursors.
	CatchUpState Cursors                   `json:"catch_up_state,omitempty"`
	Bindings     map[string]jsontext.Value `json:"bindings"`
	DetailGaps   []GapEntry                `json:"detail_gaps"`
	// RecoveryOnly asks to drain gaps and do no list or forward work.
	RecoveryOnly bool `json:"recovery_only,omitzero"`
	// Allowances says that an ALLOWANCE is understood.
	Allowances bool `json:"allowances,omitzero"`
	// Walks reports that the runner accepts WALK.
	Walks bool `json:"walks,omitzero"`
}

// Cursors maps a stream to its cursor, an object or null.
type Cursors map[string]jsontext.Value

// MarshalJSONTo writes nil as null: "nothing is persisted" differs from "no cursor yet".
func (c Cursors) MarshalJSONTo(enc *jsontext.Encoder) error {
	if c == nil {
		return enc.WriteToken(jsontext.Null)
	}
	return json.MarshalEncode(enc, map[string]jsontext.Value(c))
}

// Scope is what the owner or a grant allows this run to collect.
type Scope struct {
	Streams []StreamScope `json:"streams"`
}

// StreamScope narrows one stream. Empty Resources or Fields mean no filter.
type StreamScope struct {
	Name      string     `json:"name"`
	Resources []string   `json:"resources,omitempty"`
	TimeRange *TimeRange `json:"time_range,omitzero"`
	Fields    []string   `json:"fields,omitempty"`
}

// UnmarshalJSONFrom refuses what a grant must have resolved before the run.
func (s *StreamScope) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	type plain StreamScope
	var w struct {
		Known     plain           `json:",embed"`
		View      *jsontext.Value `json:"view"`
		Necessity *jsontext.Value `json:"necessity"`
	}
	if err := json.UnmarshalDecode(dec, &w); err != nil {
		return err
	}
	if w.View != nil || w.Necessity != nil {
		return wireError("a resolved stream scope: no view, no necessity")
	}
	*s = StreamScope(w.Known)
	return nil
}

// TimeRange is half open: Since is inclusive, Until exclusive.
type TimeRange struct {
	Since string `json:"since,omitzero"`
	Until string `json:"until,omitzero"`
}

// GapEntry is one gap handed out for recovery, under a lease that only this run may settle.
type GapEntry struct {
	GapID         string         `json:"gap_id"`
	LeaseID       string         `json:"lease_id"`
	Stream        string         `json:"stream"`
	ParentStream  string         `json:"parent_stream,omitzero"`
	RecordKey     WireKey        `json:"record_key,omitzero"`
	DetailLocator jsontext.Value `json:"detail_locator,omitzero"`
	Status        GapStatus      `json:"status"`
	ReferenceOnly bool           `json:"reference_only"`
}

// InteractionResponse answers the open INTERACTION. Data is never logged or stored.
type InteractionResponse struct {
	RequestID string         `json:"request_id"`
	Status    ResponseStatus `json:"status"`
	Data      jsontext.Value `json:"data,omitzero"`
}

// DetailGapsPageResponse answers a page request; an empty page ends recovery.
type DetailGapsPageResponse struct {
	RequestID     string     `json:"request_id"`
	ReferenceOnly bool       `json:"reference_only"`
	DetailGaps    []GapEntry `json:"detail_gaps"`
}

// CredentialResponse says what became of a credential that was handed over, or brings the fresh
// one that was asked for.
type CredentialResponse struct {
	RequestID string            `json:"request_id"`
	Status    CredentialOutcome `json:"status"`
	Values    map[string]string `json:"values,omitempty"` // by variable, with CredentialRenewed alone
}

func (*CredentialResponse) Type() MessageType     { return TypeCredentialResponse }
func (*Start) Type() MessageType                  { return TypeStart }
func (*InteractionResponse) Type() MessageType    { return TypeInteractionResponse }
func (*DetailGapsPageResponse) Type() MessageType { return TypeDetailGapsPageResponse }
