package outbox

import (
	"database/sql"
	"errors"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// ItemKind is the type of an item.
type ItemKind string

const (
	RecordBatch ItemKind = "record_batch"
	Checkpoint  ItemKind = "checkpoint"
	Gap         ItemKind = "gap"
)

func (k ItemKind) known() bool { return k == RecordBatch || k == Checkpoint || k == Gap }

// IDPrefix begins every id.
const IDPrefix = "local-outbox:"

// Lease is the exclusive right to settle an item.
type Lease struct {
	Holder string
	Epoch  int64     // grows with every claim of the item
	Until  time.Time // as of the claim; Renew does not change the copy
}

// QueuedItem is one piece of work. To enqueue one, fill in ID or leave it to be
// computed, SourceInstanceID, Kind, Payload, and BodyHash or leave it to be the
// hash of the payload. What is large goes into Packed, in a form of its own that the
// queue keeps as it is, and needs a BodyHash. The rest is filled in by the queue.
type QueuedItem struct {
	ID               string
	SourceInstanceID string
	Kind             ItemKind
	Payload          jsontext.Value
	Packed           []byte // nil: the payload is all
	BodyHash         string
	Attempts         int    // failures so far
	LastError        string // a code
	CreatedAt        time.Time
	Lease            Lease
	// Seq is the place in the queue: later items have larger ones, and an item
	// keeps its own for good.
	Seq int64
}

var (
	// ErrConflict reports that an id was already enqueued with different content, kind or source.
	ErrConflict = errors.New("the id is taken by another item")
	// ErrLeaseLost reports that the caller does not hold the lease of the item.
	ErrLeaseLost = errors.New("the lease on the item is lost")
)

const itemColumns = `seq, id, source_instance_id, kind, body_hash, attempt_count, last_error, created_at,
	lease_holder, lease_epoch, lease_until`

func scanItem(rows *sql.Rows) (i QueuedItem, err error) {
	var created, until int64
	err = rows.Scan(&i.Seq, &i.ID, &i.SourceInstanceID, &i.Kind, &i.BodyHash, &i.Attempts, &i.LastError,
		&created, &i.Lease.Holder, &i.Lease.Epoch, &until)
	i.CreatedAt, i.Lease.Until = moment(created), moment(until)
	return i, err
}

// Size is how many bytes the item carries.
func (i *QueuedItem) Size() int64 { return int64(len(i.Payload) + len(i.Packed)) }

const longestCause = 64

// code is a cause as it is kept. A text that is no short code may carry
// something that was collected, so it is not kept.
func code(cause string) string {
	rest := strings.Trim(cause, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:")
	if cause == "" || len(cause) > longestCause || rest != "" {
		return "unspecified"
	}
	return cause
}
