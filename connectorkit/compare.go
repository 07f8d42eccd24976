package connectorkit

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/internal/runstate"
)

// Whole is a collector's claim that it knows every record of a stream at the source: the whole list was read,
// without holes, filters or caps.
type Whole struct {
	// Keys yields the keys of all records at the source, sent by this run or an earlier one. Nil means those that
	// this run sent, in a walk that began without a bookmark.
	Keys iter.Seq[string]
	// Since is the start of the walked part of the source, by the stream's time field. Zero means everything.
	Since time.Time
	// Gone checks stored keys that are not among Keys and returns those that the source no longer has. An error
	// means unknown: nothing is deleted, and a later run checks again. With ErrCheckLater the returned keys are
	// deleted, and a later run checks the rest.
	Gone func(ctx context.Context, keys []string) ([]string, error)
}

// ErrNotConfirmed is returned by Whole.Gone if a second look does not confirm the first one.
var ErrNotConfirmed = errors.New("a second look at the source shows something else")

// ErrCheckLater is returned by Whole.Gone beside keys if a bound prevented it from checking all of them.
var ErrCheckLater = runstate.ErrCheckLater

// AllKeysGone is the Whole.Gone of a source that needs no second look: its lists are snapshots, or were counted.
func AllKeysGone(_ context.Context, keys []string) ([]string, error) { return keys, nil }

// Comparable reports whether this run compares a whole walk over the stream with the store.
func (f *Push) Comparable(stream string) bool { return f.r.ComparesWalk(stream) }
