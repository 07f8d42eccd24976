package store

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Coverages reads the facts from which coverage is derived: how much of a stream is stored, and up to when.
type Coverages interface {
	// Coverage returns the facts about every stored stream of the connections, by connection and name, from one
	// snapshot. It costs the same for any number of records and gaps.
	Coverage(ctx context.Context, connectionIDs []string) ([]StreamCoverage, error)
}

// StreamCoverage holds the facts about one stream. No single fact proves that the stream is complete; only all of
// them together do.
type StreamCoverage struct {
	ConnectionID string
	Stream       string
	SourceKind   SourceKind
	// CapturedAt is when the connection's newest successful run ended; nil when there is none.
	CapturedAt *time.Time
	// Newest is the measurement of the newest run that had the stream in scope. Succeeded is that of the newest
	// successful run, if Newest did not succeed. Nil means that there is no readable measurement.
	Newest, Succeeded *StreamMeasurement
	// Undone reports whether an import or an upload was undone after those measurements.
	Undone bool
	// GapOpen reports whether an item of the stream is known to be missing, whether or not it is retried.
	GapOpen bool
	// RangeGaps are gaps that cover the rest of a list or a window of it, not one item. They include gaps of detail
	// streams that name this stream as their parent.
	RangeGaps []RangeGap
	// CatchUp is the cursor of an unfinished walk through history; nil when there is none.
	CatchUp jsontext.Value
	// TimeField is the field that holds the semantic time. TimesCurrent reports whether all records have been read
	// for it.
	TimeField    string
	TimesCurrent bool
	// SearchFields are the searchable fields. Indexed reports whether the text of all records is indexed.
	SearchFields []string
	Indexed      bool
}

// StreamMeasurement is what a run measured about a stream.
type StreamMeasurement struct {
	StartedAt  time.Time
	Status     RunStatus
	Considered *int64 // nil when the run could not count; the same for Covered
	Covered    *int64
	Committed  bool // the cursor was committed
	Skipped    bool // the run skipped the stream or part of it
	Narrowed   bool // the run was limited to some records of the stream
}

// RangeGap is a gap that covers part of a list.
type RangeGap struct {
	Own     bool // a gap of the stream itself, not of its details
	Locator jsontext.Value
}
