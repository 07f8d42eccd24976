// Package runner executes one run of a connector: it starts the child process, speaks the protocol with it, checks
// every message, and commits what passes to a Sink, slice by slice.
//
// The package does not know the storage. It declares what it needs: Sink stores slices, GapSource leases gaps to
// recover, Asker asks the owner. Every run ends in an Outcome, whatever the connector does.
//
// session.go dispatches the messages. Each part of its state has its own type: conversation (the child process),
// streamSet, commitQueue, timeline, runCounters, gapRecovery, laneCoverage, gapSummary, ownerQuestions,
// credentialExchange, quotaMembers, blobIntake and progressLog. finish.go decides how the run ended.
package runner

import (
	"context"
	"errors"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/collect/childprocess"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// Spec describes the run to execute.
type Spec struct {
	RunID    string
	Manifest *manifest.Manifest
	Mode     protocol.CollectionMode
	// Scope narrows the run; empty means every stream that the manifest supports.
	Scope        []protocol.StreamScope
	State        map[string]jsontext.Value
	CatchUpState map[string]jsontext.Value
	// Bindings are the descriptors that this machine offers. The connector gets "interactive" only when the run
	// has an Asker.
	Bindings     map[string]jsontext.Value
	RecoveryOnly bool
	// Foreign marks a connector that is not built in. Its records are validated against their declared schemas
	// and stored under the keys that it sends.
	Foreign bool
	Command childprocess.Command
	// Rotate stores a credential that the provider exchanged for another, by variable. Nil means that it cannot
	// be stored.
	Rotate func(ctx context.Context, values map[string]string) error
	// Renew returns fresh values, by variable, for credentials that the provider rejects. Nil means none.
	Renew func(ctx context.Context) (map[string]string, error)
	// SharedQuotas lets the run share provider limits with other runs. Nil means that it does not share.
	SharedQuotas SharedQuotas
	// StoredKeys returns up to limit keys of live records of a stream, in a fixed order, starting after the key
	// after. A non-empty since restricts them to records with a semantic time at or after it. Nil means that
	// walks are not compared with the stored records.
	StoredKeys func(ctx context.Context, stream, since, after string, limit int) ([]string, error)
	// Blobs stores the files that records refer to, within BlobLimits. Nil means that every file is declared
	// missing.
	Blobs      BlobStore
	BlobLimits BlobLimits
}

// Sink stores slices. Implementations are bound to the run's lease.
type Sink interface {
	// CommitSlice writes the slice in one transaction: all of it or nothing.
	CommitSlice(ctx context.Context, s *slice.Slice) error
	// AccountedKeys returns those of keys for which a gap of this stream and parent is stored.
	AccountedKeys(ctx context.Context, stream, parent string, keys []string) (map[string]bool, error)
	// NoteWait stores at once that no run may send requests to a provider for some time, however this run ends.
	// Its goroutine differs from that of CommitSlice.
	NoteWait(ctx context.Context, w ProviderWait) error
}

// ProviderWait is a pause during which one sender of the connector must not send requests.
type ProviderWait struct {
	Sender string
	For    time.Duration
	Reason protocol.WaitReason
}

// GapSource leases gaps to this run.
type GapSource interface {
	// LeaseGaps claims up to limit gaps. It returns none when no gap is eligible.
	LeaseGaps(ctx context.Context, streams []string, limit, page int) ([]protocol.GapEntry, error)
	// ReleaseGaps returns claimed gaps that were not attempted.
	ReleaseGaps(ctx context.Context, gapIDs []string) error
}

// Asker asks the owner a question and waits for the answer. It returns at the latest when ctx ends. An error other
// than that of ctx fails the run.
type Asker interface {
	Ask(ctx context.Context, q protocol.Interaction) (protocol.InteractionResponse, error)
}

// Options bound a run. Zero values mean the defaults.
type Options struct {
	MaxLine int
	// NoProgress ends a run that has sent nothing for this long. The time of an open question does not count.
	// Negative disables it.
	NoProgress time.Duration
	// ExitGrace is the time that a connector has to exit after DONE or after it closed stdout. KillGrace is the
	// time between SIGTERM and SIGKILL.
	ExitGrace time.Duration
	KillGrace time.Duration
	// BatchRecords is the number of records of finished slices in one commit. MaxOpenBytes is the size of an
	// unfinished slice that is held in memory.
	BatchRecords int
	MaxOpenBytes int
	GapPageBytes int
	// Drain, once closed, ends the run as a shutdown after its next finished slice, or at once while it waits
	// for the owner. A nil channel never ends it.
	Drain <-chan struct{}
	// Observe receives progress. It must not block, and is called from more than one goroutine.
	Observe func(Update)
}

// Defaults, each with its reason.
const (
	defaultNoProgress   = 4 * time.Hour    // PDPP_MAX_RUN_WALL_CLOCK_MS: long Retry-After waits are legitimate
	defaultExitGrace    = 10 * time.Second // our connectors need 3 s, foreign ones wait for stdin to close
	defaultBatchRecords = 2048             // a larger transaction is not measurably faster
	defaultMaxOpenBytes = 8 << 20          // larger than any sensible slice, small against the memory bound
)

func (o Options) withDefaults() Options {
	if o.NoProgress == 0 {
		o.NoProgress = defaultNoProgress
	}
	if o.ExitGrace == 0 {
		o.ExitGrace = defaultExitGrace
	}
	if o.KillGrace == 0 {
		o.KillGrace = childprocess.DefaultKillGrace
	}
	if o.BatchRecords == 0 {
		o.BatchRecords = defaultBatchRecords
	}
	if o.MaxOpenBytes == 0 {
		o.MaxOpenBytes = defaultMaxOpenBytes
	}
	if o.GapPageBytes == 0 {
		o.GapPageBytes = defaultGapPageBytes
	}
	o.GapPageBytes = min(max(o.GapPageBytes, minGapPageBytes), maxGapPageBytes)
	return o
}

// Update is a progress report of a run.
type Update struct {
	Records   int64 // accepted so far
	Committed int64 // durable so far
	Gaps      int64 // opened so far
	Stream    string
	Message   string
	Count     *float64
	Total     *float64
	Rate      *protocol.CollectionRate
	Asking    *protocol.Interaction
}

// Cancellation causes: the owner stopped the run, or the only grant that requested the run ended.
var (
	ErrOwnerCancelled = errors.New("owner_cancelled")
	ErrGrantExpired   = errors.New("grant_expired")
	ErrGrantRevoked   = errors.New("grant_revoked")
)

// Run executes one run to its end. It returns after the child and its process group have ended. Asker and GapSource
// may be nil.
func Run(ctx context.Context, spec Spec, sink Sink, gaps GapSource, asker Asker, opts Options) Outcome {
	opts = opts.withDefaults()
	defer spec.Command.CloseFiles()
	s := newSession(spec, sink, gaps, asker, opts)
	if f := s.prepare(ctx); f != nil {
		return s.notStarted(f)
	}
	child, err := childprocess.Start(spec.Command, opts.KillGrace)
	spec.Command.CloseFiles() // in this process, so that the child sees when their other ends close
	if err != nil {
		return s.notStarted(&Failure{Reason: ReasonSpawnFailed, Origin: OriginRuntime,
			Message: s.secrets.line(err.Error())})
	}
	return s.converse(ctx, child)
}
