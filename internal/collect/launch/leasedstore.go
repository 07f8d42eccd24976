package launch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/ops/tracing"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// leasedStore is the store as one run may use it: every write carries the lease.
type leasedStore struct {
	store  store.Store
	lease  store.Lease
	now    func() time.Time
	counts Counts // written by the committer, read once the run is over
	// sparePressure keeps gaps out that the source's pressure left.
	sparePressure bool
	singled       []string // streams with cursors that this run does not move
	connectorID   string
	blobs         blob.Storage                          // nil: none are kept
	committed     func(connectorID string, changed int) // may be nil

	mu    sync.Mutex  // waits are noted beside the commits
	waits []time.Time // the ends of those that the run noted
}

// gapLeaseTime outlives any page of work; the run's end releases earlier.
const gapLeaseTime = time.Hour

func (b *leasedStore) CommitSlice(ctx context.Context, s *slice.Slice) error {
	out, reported := *s, 0
	for i := range out.Gaps {
		g := &out.Gaps[i]
		g.NotBefore = b.notBefore(g.NotBefore)
		if g.LeaseID == "" {
			reported++
		}
	}
	if len(b.singled) > 0 {
		out.Cursors = slices.DeleteFunc(slices.Clone(s.Cursors),
			func(c slice.Cursor) bool { return slices.Contains(b.singled, c.Stream) })
	}
	if b.blobs != nil {
		out.Present = func(ctx context.Context, hashes []string) ([]string, error) {
			return blob.MissingFiles(ctx, b.blobs, hashes)
		}
	}
	ctx, span := tracing.Open(ctx, "slice", tracing.RunID(b.lease.RunID), tracing.Connector(b.connectorID))
	done, err := b.store.CommitSlice(ctx, b.lease, out, b.now())
	if err != nil {
		span.Fail()
	} else {
		span.End()
		if b.committed != nil {
			b.committed(b.connectorID, done.Written)
		}
		b.counts.Written += int64(done.Written)
		b.counts.Unchanged += int64(done.Unchanged)
		b.counts.GapsReported += int64(reported)
		b.counts.GapsRecovered += int64(len(s.Recovered))
	}
	return err
}

// NoteWait turns the duration into a moment by this machine's clock.
func (b *leasedStore) NoteWait(ctx context.Context, w runner.ProviderWait) error {
	now := b.now()
	wait := evidence.SenderWait{Sender: w.Sender, Until: now.Add(w.For), Reason: w.Reason, At: now}
	if err := b.store.PutWait(ctx, b.lease, wait, now); err != nil {
		return fmt.Errorf("note how long to wait: %w", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waits = append(b.waits, wait.Until)
	return nil
}

// limitedPause is how long a source rests after its connector failed over its pace and named no
// time.
const limitedPause = time.Hour

// noteLimit records a pause for a run that failed because the source asked for a slower pace, unless
// the run named one itself.
func (b *leasedStore) noteLimit(ctx context.Context, o runner.Outcome) error {
	b.mu.Lock()
	named := len(b.waits) > 0
	b.mu.Unlock()
	if named || o.Status != runner.Failed || o.DoneError == nil || o.Failure == nil {
		return nil
	}
	failure := evidence.Failure{Reason: string(o.Failure.Reason), Code: o.DoneError.Code, Message: o.DoneError.Message}
	if !failure.Limited() {
		return nil
	}
	return b.NoteWait(ctx, runner.ProviderWait{Sender: "connector", For: limitedPause, Reason: protocol.WaitSearched})
}

// sameWait is within how much a gap's wait and the sender's are one announcement.
const sameWait = 5 * time.Second

// notBefore is a gap's floor. Where the sender's wait is the same announcement, both
// end in the same moment, so that the first run after it is served the gap.
func (b *leasedStore) notBefore(at *time.Time) *time.Time {
	if at == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, until := range b.waits {
		if at.Sub(until).Abs() < sameWait {
			return &until
		}
	}
	return at
}

func (b *leasedStore) AccountedKeys(ctx context.Context, stream, parent string, keys []string) (map[string]bool,
	error) {
	return b.store.AccountedKeys(ctx, b.lease.ConnectionID, stream, parent, keys)
}

func (b *leasedStore) LeaseGaps(ctx context.Context, streams []string, limit, page int) ([]protocol.GapEntry, error) {
	gaps, err := b.store.LeaseGaps(ctx, b.lease, store.GapPage{Streams: streams, SparePressure: b.sparePressure,
		Limit: limit, Page: page, TTL: gapLeaseTime}, b.now())
	if err != nil {
		return nil, fmt.Errorf("lease gaps: %w", err)
	}
	out := make([]protocol.GapEntry, len(gaps))
	for i, g := range gaps {
		out[i] = protocol.GapEntry{
			GapID: g.ID, LeaseID: g.LeaseID, Stream: g.Stream, ParentStream: g.ParentStream,
			RecordKey: protocol.WireKey(g.RecordKey), DetailLocator: g.Locator,
			Status: protocol.GapPending, ReferenceOnly: true,
		}
	}
	return out, nil
}

func (b *leasedStore) ReleaseGaps(ctx context.Context, gapIDs []string) error {
	return b.store.ReleaseGaps(ctx, b.lease, gapIDs, b.now())
}

// recordedAsker keeps the question's life in the store, and never the answer.
type recordedAsker struct {
	*leasedStore
	grantID string // that the run ends with; empty when there is none
	ask     func(ctx context.Context, runID string, q protocol.Interaction) (protocol.InteractionResponse, error)
	prepare func(runID, requestID string) (key []byte, forget func(), err error)
}

func (a *recordedAsker) Ask(ctx context.Context, q protocol.Interaction) (protocol.InteractionResponse, error) {
	opened := a.now()
	row := store.Interaction{
		RequestID: q.RequestID, RunID: a.lease.RunID, ConnectionID: a.lease.ConnectionID, Kind: q.Kind,
		Message: q.Message, Schema: q.Schema, Stream: q.Stream, OpenedAt: opened,
	}
	if deadline, limited := ctx.Deadline(); limited { // of the question's own timeout_seconds
		expires := opened.Add(time.Until(deadline))
		row.ExpiresAt = &expires
	}
	if a.grantID != "" {
		g, err := a.store.Grant(ctx, a.grantID)
		if err != nil {
			return protocol.InteractionResponse{}, fmt.Errorf("find the grant of the run: %w", err)
		}
		if g.ExpiresAt != nil && (row.ExpiresAt == nil || g.ExpiresAt.Before(*row.ExpiresAt)) {
			row.ExpiresAt = g.ExpiresAt
		}
	}
	if a.prepare != nil {
		key, forget, err := a.prepare(row.RunID, row.RequestID)
		if err != nil {
			return protocol.InteractionResponse{}, err
		}
		defer forget()
		row.Key = key
	}
	if err := a.store.OpenInteraction(ctx, a.lease, row, opened); err != nil {
		return protocol.InteractionResponse{}, fmt.Errorf("open interaction: %w", err)
	}
	answer, err := a.ask(ctx, a.lease.RunID, q)
	status := answer.Status
	switch {
	case err != nil && (ctx.Err() == context.DeadlineExceeded || errors.Is(context.Cause(ctx), runner.ErrGrantExpired)):
		status = protocol.ResponseTimeout
	case err != nil:
		status = protocol.ResponseCancelled
	case status == "":
		status = protocol.ResponseSuccess
	}
	if closeErr := a.store.CloseInteraction(context.WithoutCancel(ctx), a.lease, q.RequestID, status,
		a.now()); err == nil && closeErr != nil {
		err = fmt.Errorf("close interaction: %w", closeErr)
	}
	return answer, err
}
