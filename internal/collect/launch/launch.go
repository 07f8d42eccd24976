// Package launch turns a stored connection into a run: it finds the connector,
// takes the connection's lease, builds the child's environment, lets the runner
// work under the lease, and records the outcome.
//
// It is the bridge between runner and store, which do not know each other.
// Configuration reaches it as values; it reads no environment itself.
package launch

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/collect/browser"
	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/providerauth"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/collect/sharedquota"
	"github.com/pdpp-go/pdpp/internal/ops/logging"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// Launcher starts runs on this machine.
type Launcher struct {
	Store      store.Store
	Connectors catalog.Finder
	// Holder names this process in lease rows.
	Holder string
	// Lookup returns the owner's value of a variable that a connector declares.
	Lookup func(name string) (string, bool)
	// Secrets returns the stored credential of a connection, by variable. Nil means that none is stored. Its values
	// take precedence over Lookup.
	Secrets func(ctx context.Context, connectionID string) (Secrets, error)
	// Tokens holds the tokens of connections with a sign-in at the provider. Nil means that such a connector gets the
	// value of its variable.
	Tokens *providerauth.Keeper
	// Allowances lets runs share provider quotas. Nil means that runs do not share.
	Allowances *sharedquota.Hub
	// Limits returns the owner's limits of a connection, by variable name without the connector's prefix. Nil means
	// none. The stricter of a limit and the value of Lookup applies.
	Limits func(ctx context.Context, connectionID string) (map[string]string, error)
	// Selected returns the owner's selection for a connection. Nil means no selection. A request for named records is
	// not narrowed further.
	Selected func(ctx context.Context, connectionID string) (store.Selection, error)
	// OnlyConfirmed keeps foreign connectors from running that the owner has not confirmed as
	// they are now.
	OnlyConfirmed bool
	// Bindings are what this machine offers beside the interactive one.
	Bindings map[string]jsontext.Value
	// Browsers keep the profiles of connectors that use a browser; nil means that such a
	// connector gets the binding as it is.
	Browsers *browser.Profiles
	// Blobs is where the files of records are kept; without a place none are.
	Blobs Blobs
	// Committed is called after every durable slice with the number of changed records. It must not block. Nil
	// disables it.
	Committed func(connectorID string, changed int)
	// NewRunID makes ids; nil means random ones. Now is the clock; nil means the real one.
	NewRunID func() string
	Now      func() time.Time
	// Locks is where runs of this machine lock a file of their own; empty means that a process that was
	// killed keeps its connections until their leases run out.
	Locks RunLocks
	// LeaseTTL overrides the lease time; zero means LeaseTTL.
	LeaseTTL time.Duration
}

// RunRequest asks for one run.
type RunRequest struct {
	ConnectionID string
	Trigger      store.Trigger
	Mode         protocol.CollectionMode // empty means incremental
	Scope        []protocol.StreamScope
	RecoveryOnly bool
	// SparePressure keeps the run off gaps that the source's pressure left, for a
	// run within the cool-down after it.
	SparePressure bool
	// AskAnyway is the owner's explicit wish not to wait for the provider any longer.
	// Without it no run starts while a wait is in force, whatever asked for it.
	AskAnyway bool
	// GrantID is the only grant that requests the run, or empty for the owner and the schedule. No run starts for a
	// grant that has ended: the error is store.ErrGrantOver.
	GrantID string
	// Ask asks the owner. Nil means that the run is not interactive.
	Ask func(ctx context.Context, runID string, q protocol.Interaction) (protocol.InteractionResponse, error)
	// Prepare makes the key that answers of other processes are sealed to, before
	// the question is put; nil means that it is answered only where it is asked.
	Prepare func(runID, requestID string) (key []byte, forget func(), err error)
	// Surface receives the channel on which a connector shows its browser page, for the duration of the run. Nil means
	// that the page is not shown.
	Surface func(runID string, conn io.ReadWriteCloser)
	Options runner.Options
	// Started is called with the run's id as soon as the lease is held.
	Started func(runID string)
}

// WaitError reports until when no request may be sent to a connection's provider.
type WaitError = store.WaitError

// RunResult is a finished run.
type RunResult struct {
	RunID string
	runner.Outcome
	Counts
}

// Counts is what the run's commits changed.
type Counts struct {
	Written       int64 // records inserted, changed or tombstoned
	Unchanged     int64 // records delivered again as they were
	GapsReported  int64 // misses found by this run, not settlements of older ones
	GapsRecovered int64
}

// Run executes one run to its end. The error reports that the run could not start or that its outcome could not be
// stored; a short outage of the storage is retried. A failed run is a Result. The error is a *store.ActiveRunError
// while another run holds the connection, and a *WaitError while its provider must not be asked. In both cases nothing
// was started.
func (l *Launcher) Run(ctx context.Context, req RunRequest) (RunResult, error) {
	conn, err := l.Store.Connection(ctx, req.ConnectionID)
	if err != nil {
		return RunResult{}, fmt.Errorf("find connection %s: %w", req.ConnectionID, err)
	}
	c, err := l.Connectors.Find(ctx, conn.ConnectorID)
	if err != nil {
		return RunResult{}, err
	}
	// Nothing of a connector that may not run is recorded or used, neither its declarations nor the address
	// that its tokens are fetched from.
	refused := l.startRefusal(ctx, c)
	if refused == nil {
		if err := NoteManifest(ctx, l.Store, &conn, c.Manifest, l.now()); err != nil {
			return RunResult{}, err
		}
	}
	streams, started, heldSince := StreamSpecs(c.Manifest), l.now(), time.Now()
	lease, lock, err := l.startRun(ctx, store.RunStart{
		RunID: l.newRunID(), ConnectionID: conn.ID, ConnectorID: conn.ConnectorID, Trigger: req.Trigger,
		Holder: l.Holder, TTL: l.leaseTTL(), RecoveryOnly: req.RecoveryOnly, AskAnyway: req.AskAnyway,
		Selected: len(singleRecordStreams(req.Scope)) > 0, GrantID: req.GrantID, Streams: streams,
	}, started)
	if err != nil {
		return RunResult{}, err
	}
	defer lock.release()
	ctx = logging.WithRun(ctx, conn.ID, lease.RunID)
	if req.Started != nil {
		req.Started(lease.RunID)
	}
	bound := &leasedStore{store: l.Store, lease: lease, now: l.now, sparePressure: req.SparePressure,
		connectorID: conn.ConnectorID, committed: l.Committed, singled: singleRecordStreams(req.Scope), blobs: l.Blobs.Place}
	var outcome runner.Outcome
	var stored Secrets
	if refused != nil {
		outcome = *refused
	} else if stored, err = l.storedSecrets(ctx, conn, c); err != nil {
		outcome = withoutCredential(ctx, err)
	} else {
		outcome = l.underLease(ctx, bound, &heldSince, c, req, stored)
	}
	result := RunResult{RunID: lease.RunID, Outcome: outcome, Counts: bound.counts}
	if err := bound.noteLimit(context.WithoutCancel(ctx), outcome); err != nil && !errors.Is(err, store.ErrLeaseLost) {
		return result, fmt.Errorf("record the source's pause: %w", err)
	}
	err = l.recordOutcome(ctx, lease, outcome, heldSince)
	if errors.Is(err, store.ErrLeaseLost) && outcome.Failure != nil && errors.Is(outcome.Failure.Err, store.ErrLeaseLost) {
		return result, nil // another run has taken over and marked this one abandoned
	}
	if err != nil {
		return result, fmt.Errorf("record the outcome of run %s: %w", lease.RunID, err)
	}
	if len(stored.Values) > 0 {
		return result, l.noteRefusal(context.WithoutCancel(ctx), conn.ID, stored.CapturedAt, outcome)
	}
	return result, nil
}

// startRun takes the connection's lease under the lock of the run. It takes the connection over from a
// run of this machine that has lost its process.
func (l *Launcher) startRun(ctx context.Context, r store.RunStart, now time.Time) (store.Lease, *runLock, error) {
	lock := l.Locks.hold(r.RunID)
	lease, err := l.Store.StartRun(ctx, r, now)
	if active := (*store.ActiveRunError)(nil); errors.As(err, &active) {
		if ended := l.Locks.runEnded(active.RunID); ended != nil {
			r.EndedRun = active.RunID
			lease, err = l.Store.StartRun(ctx, r, now)
			ended.release()
		}
	}
	if err != nil {
		lock.release()
		return store.Lease{}, nil, err
	}
	return lease, lock, nil
}

// underLease runs the connector while it renews the lease, and records since when the lease is held. The lease also
// carries the owner's request to stop, from any machine.
func (l *Launcher) underLease(ctx context.Context, bound *leasedStore, heldSince *time.Time, c catalog.Connector,
	req RunRequest, stored Secrets) runner.Outcome {
	lease := bound.lease
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	renewing := make(chan struct{})
	go func() {
		defer close(renewing)
		*heldSince = l.renewLease(ctx, lease, *heldSince, cancel)
	}()
	defer func() { cancel(nil); <-renewing }()

	spec, err := l.runSpec(ctx, lease, c, req, stored)
	if err != nil {
		f := &runner.Failure{Reason: runner.ReasonStorage, Origin: runner.OriginStorage, Message: err.Error(), Err: err}
		if choice := (*manifest.ChoiceError)(nil); errors.As(err, &choice) {
			f.Reason, f.Origin = ReasonSelection, runner.OriginRuntime
		}
		return runner.Outcome{Status: runner.Failed, Failure: f, ExitCode: -1}
	}
	if lack := (*catalog.NeedError)(nil); errors.As(spec.Command.Refusal, &lack) {
		return *missingNeeds(lack)
	}
	var asker runner.Asker
	if req.Ask != nil {
		asker = &recordedAsker{leasedStore: bound, grantID: req.GrantID, ask: req.Ask, prepare: req.Prepare}
	}
	return l.withBrowser(ctx, lease, spec, req.Surface, func(spec runner.Spec) runner.Outcome {
		return runner.Run(ctx, spec, bound, bound, asker, req.Options)
	})
}

// runVariables returns the environment variables that identify the run.
func runVariables(lease store.Lease, trigger store.Trigger, key string, largest int64) map[string]string {
	own := map[string]string{
		"PDPP_CONNECTOR_INSTANCE_ID": lease.ConnectionID,
		"PDPP_RUN_ID":                lease.RunID,
		"PDPP_RUN_TRIGGER_KIND":      string(trigger),
	}
	if largest != 0 {
		own["PDPP_MAX_BLOB_BYTES"] = strconv.FormatInt(largest, 10)
	}
	if key != "" {
		own["PDPP_SOURCE_KEY"] = key
	}
	return own
}

func (l *Launcher) runSpec(ctx context.Context, lease store.Lease, c catalog.Connector, req RunRequest,
	stored Secrets) (runner.Spec, error) {
	spec := runner.Spec{
		RunID: lease.RunID, Manifest: c.Manifest, Mode: req.Mode,
		Bindings: l.Bindings, RecoveryOnly: req.RecoveryOnly, Rotate: stored.Rotate, Renew: stored.Renew,
		Foreign: !c.Builtin,
		StoredKeys: func(ctx context.Context, stream, since, after string, limit int) ([]string, error) {
			return l.Store.RecordKeys(ctx, lease.ConnectionID, stream, since, after, limit)
		},
	}
	scope, err := l.runScope(ctx, lease.ConnectionID, c.Manifest, req.Scope)
	if err != nil {
		return spec, err
	}
	spec.Scope = scope.streams
	if err := l.Blobs.configure(ctx, &spec, l.Store); err != nil {
		return spec, err
	}
	limits, err := l.ownerLimits(ctx, lease.ConnectionID, c.Manifest)
	if err != nil {
		return spec, err
	}
	spec.Command = l.connectorCommand(c, runVariables(lease, req.Trigger, stored.SourceKey, l.Blobs.Each), limits,
		stored.Values)
	if l.Allowances != nil {
		spec.SharedQuotas = l.Allowances.ForRun(lease)
	}
	if stored.SourceKey != "" {
		spec.Command.Secrets = append(spec.Command.Secrets, stored.SourceKey)
	}
	if spec.Mode == "" {
		spec.Mode = protocol.Incremental
	}
	spec.State = map[string]jsontext.Value{}
	cursors, err := l.Store.Cursors(ctx, lease.ConnectionID, "")
	if err != nil {
		return spec, fmt.Errorf("read cursors: %w", err)
	}
	for _, cur := range cursors {
		switch {
		case len(cur.Cursor) == 0 || cur.Cursor.Kind() == 'n':
		case spec.Mode == protocol.FullRefresh || scope.startsOver(cur):
			// It starts over with the data. The pace that rides on a bookmark belongs
			// to the provider, which is as it was.
			if _, pace := protocol.SplitPace(cur.Cursor); pace != nil && cur.Mode == protocol.SteadyState {
				spec.State[cur.Stream] = pace
			}
		case cur.Mode == protocol.CatchUp:
			if spec.CatchUpState == nil {
				spec.CatchUpState = map[string]jsontext.Value{}
			}
			spec.CatchUpState[cur.Stream] = cur.Cursor
		default:
			spec.State[cur.Stream] = cur.Cursor
		}
	}
	return spec, nil
}

func (l *Launcher) now() time.Time {
	if l.Now != nil {
		return l.Now()
	}
	return time.Now()
}

func (l *Launcher) newRunID() string {
	if l.NewRunID != nil {
		return l.NewRunID()
	}
	var b [5]byte
	_, _ = rand.Read(b[:]) // never fails
	return fmt.Sprintf("run_%d_%s", l.now().UnixMilli(), hex.EncodeToString(b[:]))
}
