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

func (f PushSource) begin(r *runState) collectorRun {
	w := &Push{
		feed:    f,
		r:       r,
		left:    map[string]*sliceMismatches{},
		count:   map[string]int{},
		failed:  map[string]*runFailure{},
		gaps:    map[string]protocol.GapEntry{},
		samples: map[string]*Sample{},
	}
	for _, s := range r.start.Scope.Streams {
		if r.scope[s.Name] != nil && slices.Contains(f.Streams, s.Name) {
			w.selected = append(w.selected, s.Name)
		}
	}
	return w
}

// Push is a PushSource during a run.
type Push struct {
	feed     PushSource
	r        *runState
	selected []string
	left     map[string]*sliceMismatches
	count    map[string]int
	failed   map[string]*runFailure
	gaps     map[string]protocol.GapEntry // served to this run and not settled, by stream and key
	samples  map[string]*Sample           // by store
}

func (f *Push) streams() []string { return f.feed.Streams }

func (f *Push) list() string {
	if len(f.selected) == 0 {
		return ""
	}
	return f.selected[0]
}

func (f *Push) conclude(context.Context) error { return nil }

func (f *Push) cut(ctx context.Context, d postponement) error {
	return f.r.listCut(ctx, f.list(), f.list(), nil, d)
}

// partialFailure is the error of a worker with some failed streams.
type partialFailure struct {
	failed []*runFailure
	intact int
}

func (*partialFailure) Error() string { return "some streams failed" }

func (f *Push) forward(ctx context.Context) error {
	if err := f.feed.Collect(ctx, f); err != nil || len(f.failed) == 0 {
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
	s := f.r.scope[stream]
	return s != nil && (s.resources != nil || s.bounded)
}

// Stored returns the last sent bookmark of a stream, or nil.
func (f *Push) Stored(stream string) jsontext.Value {
	return f.r.stored(stream, protocol.SteadyState)
}

// CatchUp returns the second bookmark of a stream, for a long walk through history.
func (f *Push) CatchUp(stream string) jsontext.Value {
	return f.r.stored(stream, protocol.CatchUp)
}

// RecoveryOnly reports whether this run should only fill gaps.
func (f *Push) RecoveryOnly() bool { return f.r.start.RecoveryOnly }

// Folders returns the only folders that the owner lets this source read, as absolute paths. None means no
// restriction.
func (f *Push) Folders() (folders []string, err error) {
	if text := f.r.p.Env("PDPP_SOURCE_ROOTS"); text != "" {
		if err := json.Unmarshal([]byte(text), &folders); err != nil {
			return nil, fmt.Errorf("read PDPP_SOURCE_ROOTS: %w", err)
		}
	}
	return folders, nil
}

// HistoryWaits reports whether this run should skip history, because the computer is low on power or its network
// is metered.
func (f *Push) HistoryWaits() bool { return f.r.p.Env("PDPP_SOURCE_HISTORY") == "waits" }

// Now returns the time of the run's clock.
func (f *Push) Now() time.Time { return f.r.p.Now() }

// Record sends a record. It ignores a record out of scope. A record without a key or a readable form is declared
// as missing with the next State.
func (f *Push) Record(ctx context.Context, stream string, rec Record) error {
	fault, err := f.r.emit(ctx, stream, rec)
	if err != nil || f.r.scope[stream] == nil {
		return err
	}
	f.count[stream]++
	if fault != nil {
		if f.left[stream] == nil {
			f.left[stream] = &sliceMismatches{}
		}
		f.left[stream].add(fault)
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
	return f.r.declare(ctx, stream, left)
}

// Compare deletes the stored records of a stream that are no longer at its source, unless that was done since the
// bookmark began. The following State makes it durable.
func (f *Push) Compare(ctx context.Context, stream string, w Whole) error {
	if err := f.Declare(ctx, stream); err != nil || f.Failed(stream) {
		return err
	}
	return f.r.compare(ctx, stream, w)
}

// State closes a slice: everything sent so far becomes durable with this bookmark of the stream. If the run's
// time is up, it returns an error.
func (f *Push) State(ctx context.Context, stream string, bookmark any) error {
	if err := f.Declare(ctx, stream); err != nil {
		return err
	}
	return f.state(ctx, &protocol.State{Stream: stream, Cursor: encode(bookmark)})
}

// StateCatchUp closes a slice with the second bookmark. Nil means that history is complete.
func (f *Push) StateCatchUp(ctx context.Context, stream string, bookmark any) error {
	if err := f.Declare(ctx, stream); err != nil {
		return err
	}
	return f.state(ctx, &protocol.State{Stream: stream, Cursor: encode(bookmark), Mode: protocol.CatchUp})
}

func (f *Push) state(ctx context.Context, m *protocol.State) error {
	stream := m.Stream
	if err := f.r.state(ctx, m); err != nil {
		return err
	}
	if err := f.r.report(ctx, stream, f.count[stream], 0, false); err != nil {
		return err
	}
	if err := f.r.out.flush(ctx); err != nil {
		return err
	}
	if f.r.late() {
		return &Error{Class: Unavailable, stopped: governor.MaxWallClock}
	}
	return nil
}

// Gap declares something of a stream as missing, by its key. It also returns a gap that this run was served.
func (f *Push) Gap(ctx context.Context, g protocol.DetailGap) error {
	if f.r.scope[g.Stream] == nil {
		return nil
	}
	g.Status, g.ReferenceOnly = protocol.GapPending, true
	if e, held := f.takeGap(g.Stream, string(g.RecordKey)); held {
		g.ParentStream, g.GapID, g.LeaseID = e.ParentStream, e.GapID, e.LeaseID
	}
	return f.r.out.send(ctx, &g)
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
	e, held := f.takeGap(stream, key)
	if !held {
		return nil
	}
	return f.r.out.send(ctx, &protocol.DetailGapRecovered{
		GapID: e.GapID, LeaseID: e.LeaseID, Stream: e.Stream, RecordKey: e.RecordKey, ReferenceOnly: true,
	})
}

func (f *Push) takeGap(stream, key string) (protocol.GapEntry, bool) {
	e, held := f.gaps[stream+"\x00"+key]
	delete(f.gaps, stream+"\x00"+key)
	return e, held
}

// Skip declares that something of a stream was left out.
func (f *Push) Skip(ctx context.Context, s protocol.SkipResult) error {
	return f.r.out.send(ctx, &s)
}

// Unproven reports that the completeness of the stream is unknown.
func (f *Push) Unproven(ctx context.Context, stream string) error {
	return f.r.out.send(ctx, &protocol.DetailCoverage{
		Stream: stream, StateStream: stream, Considered: protocol.CountOf(int64(f.count[stream])), ReferenceOnly: true,
	})
}

// ErrNotStored means that a credential could not be stored.
var ErrNotStored = errors.New("the credential could not be stored")

// Rotate passes on a credential that the provider exchanged for that of this run, by variable, and waits until it
// is stored.
func (f *Push) Rotate(ctx context.Context, values map[string]string) error {
	for _, value := range values {
		f.r.secrets.hide(value)
	}
	m, err := f.r.ask(ctx, protocol.TypeCredentialResponse, func(id string) protocol.Message {
		return &protocol.CredentialRequest{RequestID: id, Reason: protocol.CredentialRotated, Values: values}
	})
	if err != nil {
		return err
	}
	if m.(*protocol.CredentialResponse).Status != protocol.CredentialStored {
		return ErrNotStored
	}
	return nil
}

// Say sends a progress message.
func (f *Push) Say(ctx context.Context, p protocol.Progress) error {
	if err := f.r.out.send(ctx, &p); err != nil {
		return err
	}
	return f.r.out.flush(ctx)
}

// Fail ends one stream; the others continue. The first failure of a stream counts. A refused credential affects
// all streams, so Collect returns it instead.
func (f *Push) Fail(stream string, err error) {
	if f.r.scope[stream] == nil || f.failed[stream] != nil {
		return
	}
	failed := f.r.failureOf(err)
	f.failed[stream] = &runFailure{stream: stream, classVerdict: failed.classVerdict, cause: failed.cause}
	var own *runFailure
	if !errors.As(err, &own) {
		f.r.log.Warn("stream failed", "stream", stream, "code", failed.code, "cause", err)
	}
}

// Failed reports whether a stream has failed.
func (f *Push) Failed(stream string) bool { return f.failed[stream] != nil }

// Afford returns how many of n details the owner's caps still allow in this run. If none, Collect returns the
// error, and the rest is postponed.
func (f *Push) Afford(n int) (int, error) {
	f.r.budget.BeginDetails(f.r.p.Now())
	if why := f.r.budget.Exhausted(f.r.p.Now()); why != "" {
		return 0, &Error{Class: Unavailable, stopped: why}
	}
	if left, bounded := f.r.budget.Remaining(); bounded {
		n = min(n, left)
	}
	return n, nil
}

// Spend charges details to the owner's caps.
func (f *Push) Spend(n int) {
	for range n {
		f.r.budget.Spend()
	}
}
