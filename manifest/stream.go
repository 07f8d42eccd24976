package manifest

import (
	"encoding/json"
	"slices"
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
	CoverageStrategy  CoverageStrategy  `json:"coverage_strategy,omitempty" doc:"Evidence that tells whether the stream is complete."`
	FreshnessStrategy FreshnessStrategy `json:"freshness_strategy,omitempty" doc:"Evidence that tells how old the data is."`
	StateStream       string            `json:"state_stream,omitempty" doc:"Stream whose checkpoint this one rides on; needs coverage_strategy checkpoint_window."`
	ParentStreams     []string          `json:"parent_streams,omitempty" rule:"min=1,unique" doc:"Streams whose records this one details; needs coverage_strategy parent_detail_accounting."`
	Checkpoint        Checkpoint        `json:"checkpoint,omitempty" doc:"When records, gaps and cursor become durable. Absent: run."`

	AsTold bool `json:"as_told,omitempty" doc:"Whether only a wrapped program tells that the stream is complete, and nothing that could be counted. Absent: false."`

	CompactionClass       string                 `json:"compaction_class,omitempty" doc:"How often a record changes. Kept, without effect."`
	CompactionClassNote   string                 `json:"compaction_class_note,omitempty" doc:"Why. Kept, without effect."`
	CompactionFingerprint *CompactionFingerprint `json:"compaction_fingerprint,omitempty" doc:"What makes two versions of a record the same. Kept, without effect."`
}

// AsFar is said of every stream that is complete AsTold, wherever it is called complete.
const AsFar = "as far as this tap tells"

// PrimaryKey names the fields that identify a record. Parse accepts a single
// name as a list of one.
type PrimaryKey []string

// Selection is which parts of a stream a request may select.
type Selection struct {
	Fields        bool   `json:"fields,omitempty" doc:"Whether single fields may be selected. Absent: false."`
	Resources     bool   `json:"resources,omitempty" doc:"Whether single records may be selected. Absent: false."`
	ResourceField string `json:"resource_field,omitempty" doc:"Field that selected resources are values of. Absent: they are keys of records."`
}

// View is a selection of fields under a name.
type View struct {
	ID     string   `json:"id" rule:"required" doc:"Name, unique within the stream."`
	Label  string   `json:"label,omitempty" doc:"What the owner chooses, in words."`
	Fields []string `json:"fields" rule:"required,min=1,unique" doc:"Fields that are selected."`
}

// Relationship is how records of one stream belong to those of another.
type Relationship struct {
	Name        string      `json:"name" rule:"required" doc:"Name, unique within the stream."`
	Stream      string      `json:"stream" rule:"required" doc:"The other stream."`
	ForeignKey  string      `json:"foreign_key,omitempty" doc:"Field that holds the other record's key. Of has_many, and where this stream has no such field: field of the other stream that holds this record's key."`
	Cardinality Cardinality `json:"cardinality,omitempty" doc:"Whether there is one or there are many."`
}

// InOther reports whether the foreign key of a relationship of the stream is a field of the
// other one.
func (r Relationship) InOther(s *Stream) bool {
	return r.Cardinality == HasMany || !s.HasField(r.ForeignKey)
}

// CompactionFingerprint is what makes two versions of a record the same.
type CompactionFingerprint struct {
	ExcludeKeys          []string               `json:"exclude_keys,omitempty" rule:"unique" doc:"Fields whose change is no change of the record."`
	ChangeModel          string                 `json:"change_model,omitempty" doc:"How the record changes."`
	RepresentativePolicy string                 `json:"representative_policy,omitempty" doc:"Which version stands for the others."`
	ContentGate          *CompactionContentGate `json:"content_gate,omitempty" doc:"Fields to leave out while others are there."`
}

// CompactionContentGate leaves fields out of a fingerprint while others are there.
type CompactionContentGate struct {
	PresenceFields   []string `json:"presence_fields,omitempty" rule:"unique" doc:"The others."`
	GatedExcludeKeys []string `json:"gated_exclude_keys,omitempty" rule:"unique" doc:"Fields that are left out."`
}

// Availability is how far a stream is usable in the connector's current mode.
type Availability struct {
	State       AvailabilityState `json:"state" rule:"required" doc:"How far the stream is usable."`
	Mode        string            `json:"mode,omitempty" doc:"The mode that the state speaks of."`
	Reason      string            `json:"reason,omitempty" doc:"Why, in words for the owner."`
	FutureModes []string          `json:"future_modes,omitempty" rule:"unique" doc:"Modes that may support the stream later."`
}

// View finds a view by name; nil when the stream has none of it.
func (s *Stream) View(id string) *View {
	if i := slices.IndexFunc(s.Views, func(v View) bool { return v.ID == id }); i >= 0 {
		return &s.Views[i]
	}
	return nil
}

// ResourceField is the field whose values selected resources are; empty means that they
// are keys of records.
func (s *Stream) ResourceField() string {
	if s.Selection == nil {
		return ""
	}
	return s.Selection.ResourceField
}

// IsRequired reports whether the stream votes on the connection's health; it
// does unless the manifest says otherwise.
func (s *Stream) IsRequired() bool {
	return s.Required == nil || *s.Required
}

// Policy is the declared coverage policy; absent means collect.
func (s *Stream) Policy() CoveragePolicy {
	if s.CoveragePolicy == "" {
		return PolicyCollect
	}
	return s.CoveragePolicy
}

// Commit is the declared checkpoint; absent means run, as a connector expects
// that knows nothing of slices.
func (s *Stream) Commit() Checkpoint {
	if s.Checkpoint == "" {
		return CheckpointRun
	}
	return s.Checkpoint
}

// HasField reports whether the schema declares a field.
func (s *Stream) HasField(name string) bool {
	outline, err := outlineOf(s.Schema)
	_, ok := outline.properties[name]
	return err == nil && ok
}

// SearchFields are all that are searched, those first that the schema says a record is called by.
func (s *Stream) SearchFields() []string {
	fields := s.Query.SearchFields()
	outline, err := outlineOf(s.Schema)
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

// RequiredFields is what schema.required lists: the fields that a selection
// cannot leave out. It is nil for a schema that is not valid.
func (s *Stream) RequiredFields() []string {
	outline, err := outlineOf(s.Schema)
	if err != nil {
		return nil
	}
	return outline.required
}
