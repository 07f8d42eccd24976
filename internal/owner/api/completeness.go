package api

import "time"

// Completeness is how much is here of what a list shows.
type Completeness struct {
	// AsOf is when the source was last read; nil when that is not known.
	AsOf *time.Time `json:"as_of"`
	// Whole is yes, no or unknown: whether everything is stored that the source had at that time. It is unknown if no
	// run has accounted for the records.
	Whole string `json:"whole"`
	// Covered are the spans of time of which everything is here; none goes beyond AsOf.
	Covered []Span `json:"covered"`
}

// Span is a span of time without its end; a bound that is nil is none.
type Span struct {
	From *time.Time `json:"from"`
	To   *time.Time `json:"to"`
}
