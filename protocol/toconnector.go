package protocol

import "github.com/go-json-experiment/json/jsontext"

// Start is the first and only START of a run.
type Start struct {
	RunID          string         `json:"run_id"`
	CollectionMode CollectionMode `json:"collection_mode"`
	Scope          Scope          `json:"scope"`
	// State maps a stream to its steady-state cursor; nil when nothing is persisted.
	State map[string]jsontext.Value `json:"state"`
	// CatchUpState maps a stream to its catch-up cursor.
	CatchUpState map[string]jsontext.Value `json:"catch_up_state,omitempty"`
	Bindings     map[string]jsontext.Value `json:"bindings"`
	DetailGaps   []GapEntry                `json:"detail_gaps"`
	// RecoveryOnly asks to drain gaps and do no list or forward work.
	RecoveryOnly bool `json:"recovery_only,omitzero"`
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

func (*Start) Type() MessageType                  { return TypeStart }
func (*InteractionResponse) Type() MessageType    { return TypeInteractionResponse }
func (*DetailGapsPageResponse) Type() MessageType { return TypeDetailGapsPageResponse }
