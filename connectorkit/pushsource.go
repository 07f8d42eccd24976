package connectorkit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/failure"
	"github.com/pdpp-go/pdpp/connectorkit/internal/runstate"
	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/protocol"
)

// PushSource collects several streams with records in an order that the source decides, for example from a
// foreign program. Collect passes the records on; the kit handles scope, pace and accounting as for every other
// collector.
type PushSource struct {
	// Streams are the streams that the source can provide.
	Streams []string
	// Collect reads the source to its end. Its error ends every stream that has not failed already.
	Collect func(ctx context.Context, f *Push) error
}

func (f PushSource) beginRun(r *runstate.Run) collectorRun {
	w := &Push{
		feed:    f,
		r:       r,
		left:    map[string]*runstate.SliceMismatches{},
		count:   map[string]int{},
		failed:  map[string]*failure.RunFailure{},
		gaps:    map[string]protocol.GapEntry{},
		samples: map[string]*Sample{},
	}
	for _, s := range r.Start.Scope.Streams {
		if r.Scope[s.Name] != nil && slices.Contains(f.Streams, s.Name) {
			w.selected = append(w.selected, s.Name)
		}
	}
	return &pushRun{w}
}

// pushRun runs a PushSource.
type pushRun struct{ *Push }

// Push is a PushSource during a run.
type Push struct {
	feed     PushSource
	r        *runstate.Run
	selected []string
	left     map[string]*runstate.SliceMismatches
	count    map[string]int
	failed   map[string]*failure.RunFailure
	gaps     map[string]protocol.GapEntry // served to this run and not settled, by stream and key
	samples  map[string]*Sample           // by store
}

func (f *pushRun) StreamNames() []string { return f.feed.Streams }

func (f *pushRun) ListStream() string {
	if len(f.selected) == 0 {
		return ""
	}
	return f.selected[0]
}

func (f *pushRun) ConcludeWork(context.Context) error { return nil }

func (f *pushRun) DeclareCutShort(ctx context.Context, d runstate.Postponement) error {
	return f.r.DeclareListCut(ctx, f.ListStream(), f.ListStream(), nil, d)
}

// partialFailure is the error of a worker with some failed streams.
type partialFailure struct {
	failed []*failure.RunFailure
	intact int
}

func (*partialFailure) Error() string { return "some streams failed" }

func (f *pushRun) CollectForward(ctx context.Context) error {
	if err := f.feed.Collect(ctx, f.Push); err != nil || len(f.failed) == 0 {
		return err
	}
	end := &partialFailure{intact: len(f.selected) - len(f.failed)}
	for _, name := range f.selected {
		if failed := f.failed[name]; failed != nil {
			end.failed = append(end.failed, failed)
		}
	}
	return end
}

// Selected returns the streams of this run, in its order.
func (f *Push) Selected() []string { return f.selected }

// Narrowed reports whether this run requests only a part of a stream: single resources, or a time range.
func (f *Push) Narrowed(stream string) bool {
	s := f.r.Scope[stream]
	return s != nil && (s.Resources != nil || s.Bounded)
}

// Stored returns the last sent bookmark of a stream, or nil.
func (f *Push) Stored(stream string) jsontext.Value {
	return f.r.StoredBookmark(stream, protocol.SteadyState)
}

// CatchUp returns the second bookmark of a stream, for a long walk through history.
func (f *Push) CatchUp(stream string) jsontext.Value {
	return f.r.StoredBookmark(stream, protocol.CatchUp)
}

// RecoveryOnly reports whether this run should only fill gaps.
func (f *Push) RecoveryOnly() bool { return f.r.Start.RecoveryOnly }

// Folders returns the only folders that the owner lets this source read, as absolute paths. None means no
// restriction.
func (f *Push) Folders() (folders []string, err error) {
	if text := f.r.Env("PDPP_SOURCE_ROOTS"); text != "" {
		if err := json.Unmarshal([]byte(text), &folders); err != nil {
			return nil, fmt.Errorf("read PDPP_SOURCE_ROOTS: %w", err)
		}
	}
	return folders, nil
}

// HistoryWaits reports whether this run should skip history, because the computer is low on power or its network
// is metered.
func (f *Push) HistoryWaits() bool { return f.r.Env("PDPP_SOURCE_HISTORY") == "waits" }

// Now returns the time of the run's clock.
func (f *Push) Now() time.Time { return f.r.Now() }

// Record sends a record. It ignores a record out of scope. A record without a key or a readable form is declared
// as missing with the next State.
func (f *Push) Record(ctx context.Context, stream string, rec Record) error {
	fault, err := f.r.EmitRecord(ctx, stream, rec.content)
	if err != nil || f.r.Scope[stream] == nil {
		return err
	}
	f.count[stream]++
	if fault != nil {
		if f.left[stream] == nil {
			f.left[stream] = &runstate.SliceMismatches{}
		}
		f.left[stream].AddFault(fault)
	}
	return nil
}

// Declare reports what could not be sent of the stream since the last call.
func (f *Push) Declare(ctx context.Context, stream string) error {
	left := f.left[stream]
	if left == nil {
		return nil
	}
	delete(f.left, stream)
	return f.r.DeclareMismatches(ctx, stream, left)
}

// Compare deletes the stored records of a stream that are no longer at its source, unless that was done since the
// bookmark began. The following State makes it durable.
func (f *Push) Compare(ctx context.Context, stream string, w Whole) error {
	if err := f.Declare(ctx, stream); err != nil || f.Failed(stream) {
		return err
	}
	return f.r.CompareWithStore(ctx, stream, runstate.StoreComparison(w))
}

// State closes a slice: everything sent so far becomes durable with this bookmark of the stream. If the run's
// time is up, it returns an error.
func (f *Push) State(ctx context.Context, stream string, bookmark any) error {
	if err := f.Declare(ctx, stream); err != nil {
		return err
	}
	return f.sendState(ctx, &protocol.State{Stream: stream, Cursor: runstate.EncodeBookmark(bookmark)})
}

// StateCatchUp closes a slice with the second bookmark. Nil means that history is complete.
func (f *Push) StateCatchUp(ctx context.Context, stream string, bookmark any) error {
	if err := f.Declare(ctx, stream); err != nil {
		return err
	}
	cursor := runstate.EncodeBookmark(bookmark)
	return f.sendState(ctx, &protocol.State{Stream: stream, Cursor: cursor, Mode: protocol.CatchUp})
}

func (f *Push) sendState(ctx context.Context, m *protocol.State) error {
	stream := m.Stream
	if err := f.r.SendState(ctx, m); err != nil {
		return err
	}
	if err := f.r.ReportProgress(ctx, stream, f.count[stream], 0, false); err != nil {
		return err
	}
	if err := f.r.Out.Flush(ctx); err != nil {
		return err
	}
	if f.r.TimeIsUp() {
		return &Error{Class: Unavailable, Stopped: governor.MaxWallClock}
	}
	return nil
}

// Gap declares something of a stream as missing, by its key. It also returns a gap that this run was served.
func (f *Push) Gap(ctx context.Context, g protocol.DetailGap) error {
	if f.r.Scope[g.Stream] == nil {
		return nil
	}
	g.Status, g.ReferenceOnly = protocol.GapPending, true
	if e, held := f.takeServedGap(g.Stream, string(g.RecordKey)); held {
		g.ParentStream, g.GapID, g.LeaseID = e.ParentStream, e.GapID, e.LeaseID
	}
	return f.r.Out.Send(ctx, &g)
}

// Gaps returns the served gaps that are not settled.
func (f *Push) Gaps() []protocol.GapEntry {
	return slices.SortedFunc(
		maps.Values(f.gaps),
		func(a, b protocol.GapEntry) int { return strings.Compare(a.GapID, b.GapID) },
	)
}

// Recovered settles a gap after its records were sent. It has no effect if the gap was not served.
func (f *Push) Recovered(ctx context.Context, stream, key string) error {
	e, held := f.takeServedGap(stream, key)
	if !held {
		return nil
	}
	return f.r.Out.Send(ctx, &protocol.DetailGapRecovered{
		GapID: e.GapID, LeaseID: e.LeaseID, Stream: e.Stream, RecordKey: e.RecordKey, ReferenceOnly: true,
	})
}

// keepServedGap keeps a gap of one of the streams until Gap or Recovered settles it.
func (f *Push) keepServedGap(e protocol.GapEntry) {
	if e.RecordKey != "" && slices.Contains(f.selected, e.Stream) {
		f.gaps[e.Stream+"\x00"+string(e.RecordKey)] = e
	}
}

func (f *Push) takeServedGap(stream, key string) (protocol.GapEntry, bool) {
	e, held := f.gaps[stream+"\x00"+key]
	delete(f.gaps, stream+"\x00"+key)
	return e, held
}

// Skip declares that something of a stream was left out.
func (f *Push) Skip(ctx context.Context, s protocol.SkipResult) error {
	return f.r.Out.Send(ctx, &s)
}

// Unproven reports that the completeness of the stream is unknown.
func (f *Push) Unproven(ctx context.Context, stream string) error {
	return f.r.Out.Send(ctx, &protocol.DetailCoverage{
		Stream: stream, StateStream: stream, Considered: protocol.CountOf(int64(f.count[stream])), ReferenceOnly: true,
	})
}

// ErrNotStored means that a credential could not be stored.
var ErrNotStored = errors.New("the credential could not be stored")

// Rotate passes on a credential that the provider exchanged for that of this run, by variable, and waits until it
// is stored.
func (f *Push) Rotate(ctx context.Context, values map[string]string) error {
	return storeRotated(ctx, f.r, values)
}

// SendProgress sends a progress message.
func (f *Push) SendProgress(ctx context.Context, p protocol.Progress) error {
	if err := f.r.Out.Send(ctx, &p); err != nil {
		return err
	}
	return f.r.Out.Flush(ctx)
}

// Fail ends one stream; the others continue. The first failure of a stream counts. A refused credential affects
// all streams, so Collect returns it instead.
func (f *Push) Fail(stream string, err error) {
	if f.r.Scope[stream] == nil || f.failed[stream] != nil {
		return
	}
	failed := f.r.ClassifyFailure(err)
	f.failed[stream] = &failure.RunFailure{Stream: stream, Verdict: failed.Verdict, Cause: failed.Cause}
	var own *failure.RunFailure
	if !errors.As(err, &own) {
		f.r.Log.Warn("stream failed", "stream", stream, "code", failed.Code, "cause", err)
	}
}

// Failed reports whether a stream has failed.
func (f *Push) Failed(stream string) bool { return f.failed[stream] != nil }

// Afford returns how many of n details the owner's caps still allow in this run. If none, Collect returns the
// error, and the rest is postponed.
func (f *Push) Afford(n int) (int, error) {
	f.r.Budget.BeginDetails(f.r.Now())
	if why := f.r.Budget.Exhausted(f.r.Now()); why != "" {
		return 0, &Error{Class: Unavailable, Stopped: why}
	}
	if left, bounded := f.r.Budget.Remaining(); bounded {
		n = min(n, left)
	}
	return n, nil
}

// Spend charges details to the owner's caps.
func (f *Push) Spend(n int) {
	for range n {
		f.r.Budget.Spend()
	}
}
