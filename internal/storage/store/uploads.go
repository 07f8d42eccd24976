package store

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/slice"
)

// Uploads commits what devices send. It uses the code of a run's slices, under a run of the device, and checks the
// source's generation.
type Uploads interface {
	// Receipt returns the answer to a batch. ErrNotFound when it never arrived or was pruned.
	Receipt(ctx context.Context, deviceID, batchID string) (Receipt, error)
	// TerminalReceipt returns the answer to the commit that ended a pass.
	TerminalReceipt(ctx context.Context, sourceID, commitID string) (TerminalReceipt, error)
	// CommitUpload commits an upload with its receipt, or changes nothing. It opens a run of the device, which
	// fulfils a request for one, or extends the open run. It returns ErrUploaderGone when the source may no longer
	// write, ErrExists when the receipt exists, ErrCursorAhead when the batch named by After is missing, and
	// *ActiveRunError while the server collects for the connection.
	CommitUpload(ctx context.Context, u Upload, now time.Time) (Committed, error)
	// PutHeartbeat stores a device's report about a source. The device's run continues, ends as Ends describes, or is
	// opened if Opens is set. The connection is marked as changed only when the report changed. ErrUploaderGone as
	// for CommitUpload.
	PutHeartbeat(ctx context.Context, b DeviceHeartbeat, now time.Time) error
	// LeaseDeviceGaps leases retryable gaps to the device that collects the connection, as LeaseGaps does for a run.
	// Without such gaps it opens no run.
	LeaseDeviceGaps(ctx context.Context, u Uploader, limit int, now time.Time) ([]Gap, error)
	// UploadedSince pages through records that are unchanged since a source sent them, at or after a time, each with
	// its previous state.
	UploadedSince(ctx context.Context, sourceID string, since time.Time, after int64, limit int) ([]UploadedRecord, error)
	// RecoveredSince lists the gaps that a source closed at or after a time and that are still closed.
	RecoveredSince(ctx context.Context, sourceID string, since time.Time) ([]Gap, error)
	// PruneReceipts deletes receipts from before a time, and those of each source beyond its newest. It returns how
	// many.
	PruneReceipts(ctx context.Context, before time.Time, newest int) (int64, error)
}

// TriggerDevice is the trigger of a run that a device makes.
const TriggerDevice Trigger = evidence.TriggerDevice

// TriggerUndo is the trigger of a run that undoes an upload or an import. It collects nothing, so it does not affect
// the verdict.
const TriggerUndo Trigger = "undo"

// UploadedRecord is a record that a device sent, with its previous state: nil data when it did not exist or was
// deleted.
type UploadedRecord struct {
	ID     int64 // the position of the next page
	Stream string
	Key    string
	Before slice.Record
}

// ReasonDeviceSilent is the reason of an abandoned device run whose device stopped reporting, for example because it
// was shut. It implies nothing about coverage.
const ReasonDeviceSilent = "device_silent"

// DeviceRunSpan is how long after its start a successful device run is continued by the next pass.
const DeviceRunSpan = time.Hour

// DeviceRunTTL is how long a device's run stays open without a report. DeviceGapTTL is how long a gap stays leased to
// a device.
const (
	DeviceRunTTL = 15 * time.Minute
	DeviceGapTTL = time.Hour
)

// EveryStream is the stream of a gap that a device reports for a whole source.
const EveryStream = "*"

// Uploader is a source on a device, as it was when its request was authenticated.
type Uploader struct {
	DeviceID     string
	CredentialID string
	SourceID     string
	Generation   int64
	ConnectionID string
	ConnectorID  string
	RunID        string       // of a run to open
	Streams      []StreamSpec // declared by a run to open
}

// Holder returns the holder of the leases of the uploader's runs.
func (u *Uploader) Holder() string { return DeviceHolder + u.SourceID }

// DeviceHolder is the prefix of the holder of every device lease.
const DeviceHolder = "device:"

// Upload is one message of a device that changes stored data. Its gaps need no lease, because only one source writes
// for a connection.
type Upload struct {
	Uploader
	slice.Slice
	Receipt  *Receipt         // of a batch; nil otherwise
	Terminal *TerminalReceipt // of a commit that ends a pass
	// After is a batch that must have been received, so that cursors never pass what is stored.
	After string
	// Ends is the outcome with which the device's run ends; nil means that it continues.
	Ends *RunOutcome
}

// Receipt is the answer to a batch, which is returned again when the batch is repeated.
type Receipt struct {
	DeviceID  string
	BatchID   string
	SourceID  string
	BatchSeq  int64
	BodyHash  string
	Records   int64 // accepted records
	Rejected  int64
	Answer    []byte
	CreatedAt time.Time
}

// TerminalReceipt is the answer to the commit that ended a pass.
type TerminalReceipt struct {
	SourceID     string
	CommitID     string
	RunID        string // the device's own name of the run
	EnvelopeHash string
	Answer       []byte
	CreatedAt    time.Time
}

// DeviceHeartbeat is a device's report about one of its sources.
type DeviceHeartbeat struct {
	Uploader
	Status          string
	AgentVersion    string // empty when not reported
	ProtocolVersion string
	RecordsPending  *int64
	Outbox          jsontext.Value // nil when not counted
	LastError       jsontext.Value
	ClockSkew       *time.Duration // the device's clock minus ours
	Opens           bool           // a requested pass starts
	Ends            *RunOutcome
}
