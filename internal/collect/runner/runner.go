// Package runner executes one run of a connector: it starts the child process,
// speaks the protocol with it, gates every message and commits what passes,
// slice by slice, to a Sink.
//
// It knows nothing of storage. What it needs it declares: Sink makes slices
// durable, GapSource hands out gaps to recover, Asker puts questions to the
// owner. A run ends in an Outcome, whatever the connector does.
//
// The pieces: process.go owns the child and pipe.go its output, session.go the
// dialogue, outgoing.go what is said to the connector and ask.go what the owner is
// asked, github.com/pdpp-go/pdpp/manifest/gate the rules for records, batch.go and committer.go the way to the
// Sink, gapwork.go the recovery of gaps, coverage.go the accounting of detail
// lanes, finish.go the judgement at the end, secrets.go what must not remain.
package runner

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/foreign/confine"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// Spec says what to run.
type Spec struct {
	RunID    string
	Manifest *manifest.Manifest
	Mode     protocol.CollectionMode
	// Scope narrows the run; empty means every stream that the manifest supports.
	Scope        []protocol.StreamScope
	State        map[string]jsontext.Value
	CatchUpState map[string]jsontext.Value
	// Bindings are the descriptors that this machine offers. "interactive" is
	// offered to the connector only when there is an Asker.
	Bindings     map[string]jsontext.Value
	RecoveryOnly bool
	// Foreign marks a connector that is not built in. Its records are held against their declared
	// schemas, and are stored under the keys that it sends.
	Foreign bool
	Command Command
	// Rotate makes a credential durable that the provider exchanged for another, by
	// variable; nil means that it cannot be kept.
	Rotate func(ctx context.Context, values map[string]string) error
	// Renew gives fresh values, by variable, in the place of those that the provider refuses;
	// nil means that there are none.
	Renew func(ctx context.Context) (map[string]string, error)
	// Allowances lets the run share what its providers allow several runs together; nil means
	// that it has each to itself.
	Allowances Allowances
	// StoredKeys returns up to limit keys of live records of a stream, in a fixed order, starting after the
	// named key: with a time, of those with a semantic time not before it. Nil means that walks are not compared with
	// what is stored.
	StoredKeys func(ctx context.Context, stream, since, after string, limit int) ([]string, error)
	// Blobs keeps the files that records name, within the limits; nil means that none are kept,
	// and that each is declared missing.
	Blobs      Blobs
	BlobLimits BlobLimits
}

// Command is the connector executable with the whole environment it gets.
type Command struct {
	Path string
	Args []string
	Env  []string
	// Secrets are values that must not appear in anything the run leaves behind.
	Secrets []string
	// Files are inherited beside the three standard ones, from number 3 on. The run closes them.
	Files []*os.File
	// Dir is the empty working directory, which whoever made it removes; without one the run
	// makes its own.
	Dir string
	// User is whom the process runs as; nil means the user of this one.
	User *User
	// Limits are the files that the process may touch, beside its working directory;
	// without a program in them it is not confined.
	Limits confine.Limits
	// Refusal is why it must not be started at all; nil means that it may.
	Refusal error
	// Input is what the process reads, when it is called; nil means nothing.
	Input io.Reader
}

// closeFiles may be called more than once.
func (c Command) closeFiles() {
	for _, f := range c.Files {
		_ = f.Close()
	}
}

// User is a user of the machine, by the system's numbers.
type User struct{ UID, GID uint32 }

// Sink makes slices durable. Implementations are bound to the run's lease.
type Sink interface {
	// CommitSlice writes the slice in one transaction: all of it or nothing.
	CommitSlice(ctx context.Context, s *slice.Slice) error
	// AccountedKeys gives those of keys that a durable gap of this stream and parent stands for.
	AccountedKeys(ctx context.Context, stream, parent string, keys []string) (map[string]bool, error)
	// NoteWait makes durable, at once, that a provider is to be left alone: no run
	// may ask it before, however this one ends. It is not called by CommitSlice's
	// goroutine.
	NoteWait(ctx context.Context, w Wait) error
}

// Wait says that one of the connector's senders is to send nothing for so long.
type Wait struct {
	Sender string
	For    time.Duration
	Reason protocol.WaitReason
}

// GapSource leases gaps to this run.
type GapSource interface {
	// LeaseGaps claims up to limit gaps; an empty answer means that none is eligible.
	LeaseGaps(ctx context.Context, streams []string, limit, page int) ([]protocol.GapEntry, error)
	// ReleaseGaps gives claimed gaps back untouched.
	ReleaseGaps(ctx context.Context, gapIDs []string) error
}

// Asker puts a question to the owner and waits for the answer. It returns when
// ctx ends at the latest; an error other than ctx's fails the run.
type Asker interface {
	Ask(ctx context.Context, q protocol.Interaction) (protocol.InteractionResponse, error)
}

// Options bound a run. Zero values mean the defaults.
type Options struct {
	MaxLine int
	// NoProgress ends a run that has been silent for so long; open questions do
	// not count. Negative disables it.
	NoProgress time.Duration
	// ExitGrace is how long a connector may take to exit after DONE or after
	// closing stdout. KillGrace is the time between SIGTERM and SIGKILL.
	ExitGrace time.Duration
	KillGrace time.Duration
	// BatchRecords is how many records wait for one commit, if their slices are
	// finished; MaxOpenBytes is how much of an unfinished slice is held back.
	BatchRecords int
	MaxOpenBytes int
	GapPageBytes int
	// Drain, once closed, ends the run as a shutdown when its next slice is
	// finished, or at once while it waits for the owner. Nil never does.
	Drain <-chan struct{}
	// Observe is told about progress. It must not block, and is called from
	// more than one goroutine.
	Observe func(Update)
}

// Defaults, each with its reason.
const (
	defaultNoProgress   = 4 * time.Hour          // PDPP_MAX_RUN_WALL_CLOCK_MS: long Retry-After waits are legitimate
	defaultExitGrace    = 10 * time.Second       // our connectors need 3 s, foreign ones wait for stdin to close
	defaultKillGrace    = 250 * time.Millisecond // enough for a DONE that is ready, and no wait that an owner notices
	defaultBatchRecords = 2048                   // past it a larger transaction gains nothing measurable
	defaultMaxOpenBytes = 8 << 20                // larger than any sensible slice, small against the memory bound
)

func (o Options) withDefaults() Options {
	if o.NoProgress == 0 {
		o.NoProgress = defaultNoProgress
	}
	if o.ExitGrace == 0 {
		o.ExitGrace = defaultExitGrace
	}
	if o.KillGrace == 0 {
		o.KillGrace = defaultKillGrace
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

// Update is a glimpse of a running run.
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

// ErrOwnerCancelled is the cancellation cause that means the owner stopped the run.
var ErrOwnerCancelled = errors.New("owner_cancelled")

// Cancellation causes that mean the end of the grant that alone asked for the run.
var (
	ErrGrantExpired = errors.New("grant_expired")
	ErrGrantRevoked = errors.New("grant_revoked")
)

// Run executes one run to its end. It never returns before the child and its
// process group are gone. Asker and GapSource may be nil.
func Run(ctx context.Context, spec Spec, sink Sink, gaps GapSource, asker Asker, opts Options) Outcome {
	opts = opts.withDefaults()
	defer spec.Command.closeFiles()
	s := newSession(spec, sink, gaps, asker, opts)
	if f := s.prepare(ctx); f != nil {
		return s.refused(f)
	}
	child, err := startProcess(spec.Command, opts.KillGrace)
	spec.Command.closeFiles() // the child has them, and sees their other ends close
	if err != nil {
		return s.refused(&Failure{Reason: ReasonSpawnFailed, Origin: OriginRuntime, Message: s.line(err.Error())})
	}
	return s.converse(ctx, child)
}
