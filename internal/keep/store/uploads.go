package store

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/slice"
)

// Uploads is how what a device sends becomes durable: by the writer of a run's slices,
// under a run of the device, fenced by the source that it comes from.
type Uploads interface {
	// Receipt gives what was answered to a batch. ErrNotFound when it never came, or so
	// long ago that it is forgotten.
	Receipt(ctx context.Context, deviceID, batchID string) (Receipt, error)
	// TerminalReceipt gives what was answered to the commit that ended a pass.
	TerminalReceipt(ctx context.Context, sourceID, commitID string) (TerminalReceipt, error)
	// CommitUpload makes an upload durable with its receipt, or changes nothing. It opens
	// the device's run when none is under way, which answers a request for one, and
	// extends it otherwise. ErrUploaderGone when the source may no longer write;
	// ErrExists when its receipt is there already; ErrAhead when what it stands on is
	// not; *ActiveRunError while the server itself collects for the connection.
	CommitUpload(ctx context.Context, u Upload, now time.Time) (Committed, error)
	// PutHeartbeat keeps what a device says of a source. A device's run goes on with it, or
	// ends as Ends says; one is opened when Opens says so. Only news about the connection
	// touches it: not that some time has passed. ErrUploaderGone as above.
	PutHeartbeat(ctx context.Context, b DeviceBeat, now time.Time) error
	// LeaseDeviceGaps gives retryable gaps to the device that collects the connection, as
	// LeaseGaps gives them to a run. Without such gaps no run is opened.
	LeaseDeviceGaps(ctx context.Context, u Uploader, limit int, now time.Time) ([]Gap, error)
	// UploadedSince pages through the records that are as a source sent them at or after a
	// moment, in a fixed order, with what each was before.
	UploadedSince(ctx context.Context, sourceID string, since time.Time, after int64, limit int) ([]Uploaded, error)
	// RecoveredSince lists the gaps that a source closed at or after a moment and that are
	// closed still.
	RecoveredSince(ctx context.Context, sourceID string, since time.Time) ([]Gap, error)
	// PruneReceipts forgets receipts from before a moment and, of each source, those that
	// are not among its newest. It gives how many.
	PruneReceipts(ctx context.Context, before time.Time, newest int) (int64, error)
}

// TriggerDevice is the trigger of a run that a device of the owner makes.
const TriggerDevice Trigger = evidence.TriggerDevice

// TriggerUndo is the trigger of a run in which what a device sent, or a file brought, is taken back. It collects
// nothing, so that nothing is judged by it.
const TriggerUndo Trigger = "undo"

// Uploaded is a record as a device sent it, and as it was before: nil data when it was not
// there, or deleted.
type Uploaded struct {
	ID     int64 // pages go on after it
	Stream string
	Key    string
	Before slice.Record
}

// ReasonDeviceSilent is why a device's run was abandoned: the device fell silent, as one
// does that is closed. It says nothing of what is collected.
const ReasonDeviceSilent = "device_silent"

// DeviceRunSpan is how long after its beginning a device's run that succeeded is gone on with
// by its next pass.
const DeviceRunSpan = time.Hour

// DeviceRunTTL is how long a device's run stays open without a word from it, and
// DeviceGapTTL how long a gap is the device's to fetch.
const (
	DeviceRunTTL = 15 * time.Minute
	DeviceGapTTL = time.Hour
)

// EveryStream is the stream of a gap that a device reports of a source as a whole.
const EveryStream = "*"

// Uploader is a source on a device, as it was when its request was let in.
type Uploader struct {
	DeviceID     string
	CredentialID string
	SourceID     string
	Generation   int64
	ConnectionID string
	ConnectorID  string
	RunID        string       // of a run that has to be opened
	Streams      []StreamSpec // that such a run declares
}

// Holder names the uploader in the lease of its runs.
func (u *Uploader) Holder() string { return DeviceHolder + u.SourceID }

// DeviceHolder begins the holder of every lease of a device.
const DeviceHolder = "device:"

// Upload is one message of a device that changes what is stored. Gaps, attempts and
// recoveries name no lease: one source alone writes for a connection.
type Upload struct {
	Uploader
	slice.Slice
	Receipt  *Receipt         // of a batch; nil for what is none
	Terminal *TerminalReceipt // of a commit that ends a pass
	// After names a batch that must have been received: cursors never pass what is stored.
	After string
	// Ends says how the device's run ends with the upload; nil means that it goes on.
	Ends *RunOutcome
}

// Receipt is the answer to a batch, which is given again when the batch comes again.
type Receipt struct {
	DeviceID  string
	BatchID   string
	SourceID  string
	BatchSeq  int64
	BodyHash  string
	Records   int64 // that were taken
	Rejected  int64
	Answer    []byte
	CreatedAt time.Time
}

// TerminalReceipt is the answer to the commit that ended a pass.
type TerminalReceipt struct {
	SourceID     string
	CommitID     string
	RunID        string // as the device calls it
	EnvelopeHash string
	Answer       []byte
	CreatedAt    time.Time
}

// DeviceBeat is what a device says of one of its sources.
type DeviceBeat struct {
	Uploader
	Status          string
	AgentVersion    string // empty: not said
	ProtocolVersion string
	RecordsPending  *int64
	Outbox          jsontext.Value // nil: not counted
	LastError       jsontext.Value
	ClockSkew       *time.Duration // the device's clock minus ours
	Opens           bool           // a pass begins that somebody asked for
	Ends            *RunOutcome
}
