package grantview

import "time"

// Whole is whether everything is here that the source had in a range of time when it was last read: yes, no or
// unknown.
type Whole string

const (
	WholeYes     Whole = "yes"
	WholeNo      Whole = "no"
	WholeUnknown Whole = "unknown"
)

// Completeness is how fresh one stream is and in which time range it is whole, without the reason.
type Completeness struct {
	ConnectionID string `json:"connection_id"`
	// ConnectorName is the name of the kind of source; absent when that is not known.
	ConnectorName string `json:"connector_name,omitempty"`
	Stream        string `json:"stream"`
	// AsOf is when the source was last read; absent when that is not known.
	AsOf      *time.Time      `json:"as_of,omitempty"`
	Freshness FreshnessStatus `json:"freshness"`
	// Range is what was asked for of the time that may be read.
	Range Span `json:"range"`
	// Whole is whether the range is whole, as of AsOf.
	Whole Whole `json:"whole"`
	// Covered are the spans of the range that are whole. None goes beyond AsOf.
	Covered []Span `json:"covered"`
}

// Span is a span of time without its end. A bound that is absent is none.
type Span struct {
	From *time.Time `json:"from,omitempty"`
	To   *time.Time `json:"to,omitempty"`
}

// Completed is embedded in every answer with data.
type Completed struct {
	Completeness []Completeness `json:"completeness"`
}

// completed is never null.
func completed(completeness []Completeness) Completed {
	return Completed{append([]Completeness{}, completeness...)}
}

// Completion returns the completeness, for the headers.
func (c Completed) Completion() []Completeness { return c.Completeness }
