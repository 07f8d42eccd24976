package runstate

import (
	"context"
	"maps"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// RunBookmarks are the steady bookmarks of a run, without pace.
type RunBookmarks struct {
	Sent     map[string]jsontext.Value // by stream, as last sent
	Accounts map[string]bool           // streams that need an account in their STATE
	lastPace map[string]float64        // the last sent pace
	toldAt   time.Time
	compared map[string]int64 // last comparison with the store, in Unix milliseconds; zero: never
	walks    map[string]bool  // streams with a walk that the runner records
	holes    map[string]bool  // streams with omissions in this run
}

func newBookmarks() RunBookmarks {
	return RunBookmarks{Sent: map[string]jsontext.Value{}, Accounts: map[string]bool{}, compared: map[string]int64{},
		walks: map[string]bool{}, holes: map[string]bool{}}
}

// SendState sends a bookmark. A steady one includes the pace.
func (r *Run) SendState(ctx context.Context, m *protocol.State) error {
	if m.Mode == protocol.SteadyState && m.Cursor.Kind() == '{' {
		b := &r.Bookmarks
		b.Sent[m.Stream], b.lastPace, b.toldAt = m.Cursor, r.currentPace(), r.Now()
		m.Cursor = withPace(protocol.WithCompared(m.Cursor, b.compared[m.Stream]), b.lastPace)
	}
	return r.Out.Send(ctx, m)
}

// MaxPaceAge is how old the pace on the last bookmark may be at the end of a run.
const MaxPaceAge = time.Minute

// sendFinalPace sends one bookmark again if its pace is out of date. A long walk through history sends only catch-up
// bookmarks, and a failed run may have sent none; both have learned something. It moves no bookmark. After a
// failure it must not end an incomplete slice.
func (r *Run) sendFinalPace(ctx context.Context, failed bool) error {
	now := r.currentPace()
	current := equalPaces(now, r.Bookmarks.lastPace) && r.Now().Sub(r.Bookmarks.toldAt) < MaxPaceAge
	if len(now) == 0 || current || failed && r.Out.SliceIsOpen() {
		return nil
	}
	m := &protocol.State{}
	if m.Stream, m.Cursor = r.anyBookmark(); m.Stream == "" {
		return nil
	}
	if r.Bookmarks.Accounts[m.Stream] {
		m.Accounted = &protocol.KeyCoverage{} // it covers no key
	}
	return r.SendState(ctx, m)
}

// anyBookmark returns a steady bookmark that is known to be right: the last one that this run sent, or the one
// that it started with. A full refresh starts with none, and the stored one stays until a slice replaces it. It
// prefers a stream that commits by slices, because the others store nothing of a failed run.
func (r *Run) anyBookmark() (stream string, cursor jsontext.Value) {
	for _, s := range r.Start.Scope.Streams {
		mark := r.Bookmarks.Sent[s.Name]
		if mark == nil {
			mark = r.StoredBookmark(s.Name, protocol.SteadyState)
		}
		if r.Scope[s.Name] == nil || mark.Kind() != '{' {
			continue
		}
		if r.commitsSlices(s.Name) {
			return s.Name, mark
		}
		if stream == "" {
			stream, cursor = s.Name, mark
		}
	}
	return stream, cursor
}

func (r *Run) commitsSlices(stream string) bool {
	return r.Scope[stream].Stream.Checkpoint == manifest.CheckpointSlice
}

// equalPaces compares two paces without their recording times.
func equalPaces(a, b map[string]float64) bool {
	without := func(m map[string]float64) map[string]float64 {
		m = maps.Clone(m)
		maps.DeleteFunc(m, func(name string, _ float64) bool { return strings.HasSuffix(name, governor.FieldRecorded) })
		return m
	}
	return maps.Equal(without(a), without(b))
}

// StoredBookmark returns a stream's stored bookmark, as its collector sent it. A full refresh starts without one: its
// START contains only the pace.
func (r *Run) StoredBookmark(stream string, mode protocol.CursorMode) jsontext.Value {
	switch {
	case r.Start.CollectionMode == protocol.FullRefresh:
		return nil
	case mode == protocol.CatchUp:
		return r.Start.CatchUpState[stream]
	default:
		mark, _ := protocol.SplitCompared(WithoutPace(r.Start.State[stream]))
		return mark
	}
}
