// Package parttimes keeps the times in the bookmark of a stream that is read in partitions: one for each partition, or
// one for all if they are too many.
package parttimes

import (
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// margin is how much earlier than the walk the one time of all partitions is, because clocks differ.
const margin = 15 * time.Minute

// Times are the times of a bookmark.
type Times struct {
	parts  map[string]string // by partition, up to most
	since  string            // of all partitions without a time of their own
	shared bool
	most   int
	last   time.Time         // the since of a finished walk
	found  map[string]string // read, and not sent yet
}

// ReadTimes returns the times of a bookmark. Most bounds the partitions with a time of their own.
func ReadTimes(at connectorkit.Cursor, now time.Time, most int) *Times {
	t := &Times{parts: map[string]string{}, since: at["since"], shared: at["since"] != "", most: most,
		last: now.UTC().Add(-margin), found: map[string]string{}}
	if json.Unmarshal([]byte(at["parts"]), &t.parts) != nil || t.parts == nil {
		t.parts = map[string]string{} // everything is read again
	}
	return t
}

// Shared reports whether all partitions have one time.
func (t *Times) Shared() bool { return t.shared }

// Own returns the time of a partition, if it has one of its own.
func (t *Times) Own(id string) (string, bool) {
	own, known := t.parts[id]
	return own, known
}

// From returns the time from which a partition is read. Empty means from the beginning.
func (t *Times) From(id string) string {
	if own, known := t.parts[id]; known {
		return own
	}
	return t.since
}

// Limit bounds the one time of all partitions by the end of what is read.
func (t *Times) Limit(end time.Time) {
	if end = end.Add(-margin); end.Before(t.last) {
		t.last = end
	}
}

// Found keeps the newest time of a partition until Accept.
func (t *Times) Found(id, newest string) { t.found[id] = newest }

// Accept takes the newest time of a partition into the bookmark: its records were sent.
func (t *Times) Accept(id string) {
	newest := t.found[id]
	delete(t.found, id)
	if t.shared || newest == "" {
		return
	}
	if t.parts[id] = newest; len(t.parts) > t.most {
		t.shared, t.parts = true, map[string]string{}
	}
}

// Bookmark returns the times, the one of all partitions in a layout. It moves only with a finished walk.
func (t *Times) Bookmark(finished bool, layout string) connectorkit.Cursor {
	switch {
	case !t.shared:
		text, err := json.Marshal(t.parts, json.Deterministic(true))
		if err != nil {
			return connectorkit.Cursor{} // a text that is not UTF-8 cannot come from JSON
		}
		return connectorkit.Cursor{"parts": string(text)}
	case finished:
		return connectorkit.Cursor{"since": t.last.Format(layout)}
	}
	return connectorkit.Cursor{"since": t.since}
}
