package store

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Coverages are the facts by which it is told how much of a stream is kept, and up to when.
type Coverages interface {
	// Coverage gives those of every stored stream of some connections, by connection and
	// name, all of one moment. It costs the same however many records and gaps there are.
	Coverage(ctx context.Context, connectionIDs []string) ([]StreamCoverage, error)
}

// StreamCoverage is what is known of one stream. Nothing of it says that the stream is
// complete: that follows from all of it together.
type StreamCoverage struct {
	ConnectionID string
	Stream       string
	SourceKind   SourceKind
	// CapturedAt is when the newest run of the connection that succeeded ended; nil when
	// none has.
	CapturedAt *time.Time
	// Newest is what the newest run that had the stream in scope measured, and Succeeded,
	// where that run did not succeed, what the newest one measured that did. Nil means that
	// there is no such measurement, or none that can be read.
	Newest, Succeeded *Measured
	// Undone says that something was taken back since those measurements.
	Undone bool
	// GapOpen says that an item of the stream is known to be missing, whether it is tried again or not.
	GapOpen bool
	// Parts are gaps that stand for more than an item: for the rest of a list, or for a
	// window of it. They are those of the stream, and those of its details that name it
	// as their parent.
	Parts []PartGap
	// CatchUp is the bookmark of a walk through history that has not ended; nil when there
	// is none.
	CatchUp jsontext.Value
	// TimeField is the field that semantic times are taken from; Timed says that all are.
	TimeField string
	Timed     bool
	// SearchFields are those that are searched; Indexed says that all records are.
	SearchFields []string
	Indexed      bool
}

// Measured is what a run measured of a stream.
type Measured struct {
	StartedAt  time.Time
	Status     RunStatus
	Considered *int64 // nil when the run could not tell, as Covered
	Covered    *int64
	Committed  bool // its bookmark is durable
	Skipped    bool // it left the stream, or part of it, out
	Narrowed   bool // it was asked for some records of the stream alone
}

// PartGap is a gap that stands for a part of a list.
type PartGap struct {
	Own     bool // it is a gap of the stream itself, not of its details
	Locator jsontext.Value
}
