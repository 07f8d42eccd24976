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
	// State holds the steady-state cursors. Nil means that nothing is stored.
	State Cursors `json:"state"`
	// CatchUpState holds the catch-up cursors.
	CatchUpState Cursors                   `json:"catch_up_state,omitempty"`
	Bindings     map[string]jsontext.Value `json:"bindings"`
	DetailGaps   []GapEntry                `json:"detail_gaps"`
	// RecoveryOnly requests that the run only recovers gaps, without list or forward work.
	RecoveryOnly bool `json:"recovery_only,omitzero"`
	// Allowances reports that the runner accepts ALLOWANCE.
	Allowances bool `json:"allowances,omitzero"`
	// Walks reports that the runner accepts WALK.
	Walks bool `json:"walks,omitzero"`
}

// Cursors maps a stream to its cursor, an object or null.
type Cursors map[string]jsontext.Value

// MarshalJSONTo writes nil as null: "nothing is stored" differs from "no cursor yet".
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

// StreamScope limits one stream. Empty Resources or Fields mean no filter.
type StreamScope struct {
	Name      string     `json:"name"`
	Resources []string   `json:"resources,omitempty"`
	TimeRange *TimeRange `json:"time_range,omitzero"`
	Fields    []string   `json:"fields,omitempty"`
}

// UnmarshalJSONFrom rejects members that must be resolved when a grant is issued.
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

// GapEntry is one gap to recover, with a lease that only this run may settle.
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

// DetailGapsPageResponse is the reply to a page request. An empty page ends recovery.
type DetailGapsPageResponse struct {
	RequestID     string     `json:"request_id"`
	ReferenceOnly bool       `json:"reference_only"`
	DetailGaps    []GapEntry `json:"detail_gaps"`
}

// CredentialResponse is the result for a rotated credential, or contains the fresh one that was requested.
type CredentialResponse struct {
	RequestID string            `json:"request_id"`
	Status    CredentialOutcome `json:"status"`
	Values    map[string]string `json:"values,omitempty"` // by variable; only with CredentialRenewed
}

func (*CredentialResponse) Type() MessageType     { return TypeCredentialResponse }
func (*Start) Type() MessageType                  { return TypeStart }
func (*InteractionResponse) Type() MessageType    { return TypeInteractionResponse }
func (*DetailGapsPageResponse) Type() MessageType { return TypeDetailGapsPageResponse }
