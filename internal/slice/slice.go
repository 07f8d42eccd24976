// Package slice defines what one commit of a run makes durable. The runner fills it, a database stores it, and a
// device queues it for upload.
package slice

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/protocol"
)

// Slice is the unit of commit. Any part may be empty.
type Slice struct {
	Records []Record
	// Gaps opens or refreshes gaps. A gap with a lease id returns the leased gap to pending; without one it is
	// upserted by identity. A gap that this run holds keeps its lease. A recovered gap reopens only when a run other
	// than the one that recovered it misses it again.
	Gaps      []Gap
	Attempts  []GapRef // count one attempt of a leased gap, once per lease
	Recovered []GapRef // close a leased gap
	Cursors   []Cursor
	Events    []Event
	// Present reports which files of the records are not stored. It is called within the transaction, when no file
	// can be removed any more. A slice with files needs it.
	Present func(ctx context.Context, sha256 []string) (missing []string, err error)
}

// Record is a validated record in the form in which devices upload it. A tombstone has Op protocol.OpDelete and no
// data; the op of any other record is empty.
type Record struct {
	Stream       string         `json:"stream"`
	Key          string         `json:"record_key"`
	Data         jsontext.Value `json:"data,omitzero"` // an object, valid only during the commit; nil for a tombstone
	EmittedAt    string         `json:"emitted_at"`
	SemanticTime string         `json:"-"` // UTC, fixed width; empty when the stream has no time field
	Op           protocol.Op    `json:"op,omitzero"`
	// Blobs are the files of the record, each stored before the record. Nil leaves its files unchanged, and an empty
	// list removes them.
	Blobs []Blob `json:"blobs,omitzero"`
	// File is the imported file that the record came from; empty when it came from the source.
	File string `json:"-"`
}

// Blob is a file of a record, named by its content.
type Blob struct {
	Field  string `json:"field"` // the member of the data that it belongs to
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
	MIME   string `json:"mime,omitzero"`
	Name   string `json:"name,omitzero"`
	Path   string `json:"-"` // in the run's working directory; not needed after the commit
}

// Deleted reports whether the record is a tombstone.
func (r *Record) Deleted() bool { return r.Op == protocol.OpDelete }

// Gap is a gap to open, refresh or return, as a run reports it and a device queues it.
type Gap struct {
	GapID        string          `json:"id,omitzero"` // with LeaseID: returns a leased gap
	LeaseID      string          `json:"-"`
	Stream       string          `json:"stream"`
	ParentStream string          `json:"parent_stream,omitzero"`
	RecordKey    string          `json:"record_key,omitzero"`
	Reason       protocol.Reason `json:"reason"`
	Retryable    bool            `json:"retryable"`        // false makes the gap terminal at once
	Locator      jsontext.Value  `json:"locator,omitzero"` // sanitized by the caller, like the two below
	ListCursor   jsontext.Value  `json:"-"`
	LastError    jsontext.Value  `json:"-"`
	NotBefore    *time.Time      `json:"-"` // nil when the provider named no wait
}

// GapRef identifies a leased gap and its token.
type GapRef struct{ GapID, LeaseID string }

// Cursor moves a cursor. A nil or null value clears it.
type Cursor struct {
	Stream  string
	Mode    protocol.CursorMode
	GrantID string // "" is the owner
	Cursor  jsontext.Value
}

// Event is one entry of a run's timeline.
type Event struct {
	Type   string         `json:"event_type"`
	At     time.Time      `json:"occurred_at"`
	Stream string         `json:"stream,omitzero"`
	Data   jsontext.Value `json:"data,omitzero"`
}
