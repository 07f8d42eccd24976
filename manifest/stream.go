package manifest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Stream is one kind of record that a connector emits.
type Stream struct {
	Name              string            `json:"name" rule:"required,pattern=stream" doc:"Name, unique within the manifest."`
	Description       string            `json:"description,omitempty" doc:"What the records are."`
	Display           *Display          `json:"display,omitempty" doc:"How the stream is shown to the owner."`
	Semantics         Semantics         `json:"semantics" rule:"required" doc:"How records change over time."`
	Schema            json.RawMessage   `json:"schema" rule:"required,object" doc:"JSON Schema of one record, with type object."`
	PrimaryKey        PrimaryKey        `json:"primary_key" rule:"required,min=1,unique" doc:"Fields that identify a record: one name or a list of names."`
	CursorField       string            `json:"cursor_field,omitempty" doc:"Field that an incremental run resumes by."`
	ConsentTimeField  string            `json:"consent_time_field,omitempty" doc:"Field that a time range of a grant is applied to."`
	Incremental       bool              `json:"incremental,omitempty" doc:"Whether a run can fetch changes only. Absent: false."`
	Selection         *Selection        `json:"selection,omitempty" doc:"Which parts of the stream a request may select."`
	Query             *Query            `json:"query,omitempty" doc:"What readers may search and filter by."`
	Views             []View            `json:"views,omitempty" doc:"Selections of fields that the owner can choose by name."`
	Relationships     []Relationship    `json:"relationships,omitempty" doc:"How records of this stream belong to those of others."`
	Required          *bool             `json:"required,omitempty" doc:"Whether the stream votes on the health of the connection. Absent: true."`
	CoveragePolicy    CoveragePolicy    `json:"coverage_policy,omitempty" doc:"How completely the stream is meant to be collected. Absent: collect."`
	Availability      *Availability     `json:"availability,omitempty" doc:"How far the stream is usable."`
	CoverageStrategy  CoverageStrategy  `json:"coverage_strategy,omitempty" doc:"Evidence for the completeness of the stream."`
	FreshnessStrategy FreshnessStrategy `json:"freshness_strategy,omitempty" doc:"Evidence for the age of the data."`
	StateStream       string            `json:"state_stream,omitempty" doc:"Stream with the checkpoint that this one shares; needs coverage_strategy checkpoint_window."`
	ParentStreams     []string          `json:"parent_streams,omitempty" rule:"min=1,unique" doc:"Streams with records that this one details; needs coverage_strategy parent_detail_accounting."`
	Checkpoint        Checkpoint        `json:"checkpoint,omitempty" doc:"When records, gaps and cursor become durable. Absent: run."`

	AsTold bool `json:"as_told,omitempty" doc:"Whether only a wrapped program reports that the stream is complete, without anything to count. Absent: false."`

	CompactionClass       string                 `json:"compaction_class,omitempty" doc:"How often a record changes. Kept, without effect."`
	CompactionClassNote   string                 `json:"compaction_class_note,omitempty" doc:"Why. Kept, without effect."`
	CompactionFingerprint *CompactionFingerprint `json:"compaction_fingerprint,omitempty" doc:"What makes two versions of a record the same. Kept, without effect."`
}

// ReportedByConnector qualifies every statement that a stream with AsTold is complete.
const ReportedByConnector = "as reported by this connector"

// PrimaryKey lists the fields that identify a record. Parse accepts a single name as a list of one.
type PrimaryKey []string

// Selection declares which parts of a stream a request may select.
type Selection struct {
	Fields        bool   `json:"fields,omitempty" doc:"Whether single fields may be selected. Absent: false."`
	Resources     bool   `json:"resources,omitempty" doc:"Whether single records may be selected. Absent: false."`
	ResourceField string `json:"resource_field,omitempty" doc:"Field that selected resources are values of. Absent: they are keys of records."`
}

// View is a named selection of fields.
type View struct {
	ID     string   `json:"id" rule:"required" doc:"Name, unique within the stream."`
	Label  string   `json:"label,omitempty" doc:"What the owner chooses, in words."`
	Fields []string `json:"fields" rule:"required,min=1,unique" doc:"Fields that are selected."`
}

// Relationship declares how records of one stream belong to those of another.
type Relationship struct {
	Name        string      `json:"name" rule:"required" doc:"Name, unique within the stream."`
	Stream      string      `json:"stream" rule:"required" doc:"The other stream."`
	ForeignKey  string      `json:"foreign_key,omitempty" doc:"Field that holds the other record's key. Of has_many, and where this stream has no such field: field of the other stream that holds this record's key."`
	Cardinality Cardinality `json:"cardinality,omitempty" doc:"Whether there is one or there are many."`
}

// InOther reports whether the foreign key of a relationship of s is a field of the other stream.
func (r Relationship) InOther(s *Stream) bool {
	return r.Cardinality == HasMany || !s.HasField(r.ForeignKey)
}

// CompactionFingerprint declares when two versions of a record are the same.
type CompactionFingerprint struct {
	ExcludeKeys          []string               `json:"exclude_keys,omitempty" rule:"unique" doc:"Fields that do not count as a change of the record."`
	ChangeModel          string                 `json:"change_model,omitempty" doc:"How the record changes."`
	RepresentativePolicy string                 `json:"representative_policy,omitempty" doc:"Which version represents the others."`
	ContentGate          *CompactionContentGate `json:"content_gate,omitempty" doc:"Fields to leave out while others are there."`
}

// CompactionContentGate excludes fields from a fingerprint while others are present.
type CompactionContentGate struct {
	PresenceFields   []string `json:"presence_fields,omitempty" rule:"unique" doc:"The others."`
	GatedExcludeKeys []string `json:"gated_exclude_keys,omitempty" rule:"unique" doc:"Fields that are left out."`
}

// Availability declares how far a stream is usable in the connector's current mode.
type Availability struct {
	State       AvailabilityState `json:"state" rule:"required" doc:"How far the stream is usable."`
	Mode        string            `json:"mode,omitempty" doc:"The mode that the state speaks of."`
	Reason      string            `json:"reason,omitempty" doc:"Why, in words for the owner."`
	FutureModes []string          `json:"future_modes,omitempty" rule:"unique" doc:"Modes that may support the stream later."`
}

// View returns the named view, or nil.
func (s *Stream) View(id string) *View {
	if i := slices.IndexFunc(s.Views, func(v View) bool { return v.ID == id }); i >= 0 {
		return &s.Views[i]
	}
	return nil
}

// ResourceField returns the field that selected resources are values of. Empty means that they are record keys.
func (s *Stream) ResourceField() string {
	if s.Selection == nil {
		return ""
	}
	return s.Selection.ResourceField
}

// IsRequired reports whether the stream affects the connection's health. It does, unless the manifest declares
// otherwise.
func (s *Stream) IsRequired() bool {
	return s.Required == nil || *s.Required
}

// Policy returns the declared coverage policy. The default is collect.
func (s *Stream) Policy() CoveragePolicy {
	if s.CoveragePolicy == "" {
		return PolicyCollect
	}
	return s.CoveragePolicy
}

// Commit returns the declared checkpoint. The default is run, because connectors without slices expect it.
func (s *Stream) Commit() Checkpoint {
	if s.Checkpoint == "" {
		return CheckpointRun
	}
	return s.Checkpoint
}

// HasField reports whether the schema declares a field.
func (s *Stream) HasField(name string) bool {
	outline, err := readOutline(s.Schema)
	_, ok := outline.properties[name]
	return err == nil && ok
}

// SearchFields returns all searched fields, first those that the schema marks as the record's name.
func (s *Stream) SearchFields() []string {
	fields := s.Query.SearchFields()
	outline, err := readOutline(s.Schema)
	if err != nil {
		return fields
	}
	title := func(name string) int {
		var words struct {
			Role string `json:"x_pdpp_role"`
		}
		if json.Unmarshal(outline.properties[name], &words) == nil && words.Role == "primary-title" {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(fields, func(a, b string) int { return title(a) - title(b) })
	return fields
}

// RequiredFields returns schema.required: the fields that a selection cannot exclude. It is nil for an invalid
// schema.
func (s *Stream) RequiredFields() []string {
	outline, err := readOutline(s.Schema)
	if err != nil {
		return nil
	}
	return outline.required
}

// StreamName converts a name to the form that a manifest allows, makes it different from those taken, and adds it to
// them.
func StreamName(name string, taken map[string]bool) string {
	id := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToLower(name))
	if id == "" || id[0] < 'a' || id[0] > 'z' {
		id = "s_" + id
	}
	id = id[:min(len(id), 60)]
	for n, base := 2, id; taken[id]; n++ {
		id = fmt.Sprintf("%s_%d", base, n)
	}
	taken[id] = true
	return id
}
