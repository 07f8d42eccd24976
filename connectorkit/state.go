package connectorkit

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

// runBookmarks are the steady bookmarks of a run, without pace.
type runBookmarks struct {
	sent     map[string]jsontext.Value // by stream, as last sent
	accounts map[string]bool           // streams that need an account in their STATE
	lastPace map[string]float64        // the last sent pace
	toldAt   time.Time
	compared map[string]int64 // last comparison with the store, in Unix milliseconds; zero: never
	walks    map[string]bool  // streams with a walk that the runner records
	holes    map[string]bool  // streams with omissions in this run
}

func newBookmarks() runBookmarks {
	return runBookmarks{sent: map[string]jsontext.Value{}, accounts: map[string]bool{}, compared: map[string]int64{},
		walks: map[string]bool{}, holes: map[string]bool{}}
}

// state sends a bookmark. A steady one includes the pace.
func (r *runState) state(ctx context.Context, m *protocol.State) error {
	if m.Mode == protocol.SteadyState && m.Cursor.Kind() == '{' {
		b := &r.bookmarks
		b.sent[m.Stream], b.lastPace, b.toldAt = m.Cursor, r.pace(), r.p.Now()
		m.Cursor = withPace(protocol.WithCompared(m.Cursor, b.compared[m.Stream]), b.lastPace)
	}
	return r.out.send(ctx, m)
}

// paceAge is how old the pace on the last bookmark may be at the end of a run.
const paceAge = time.Minute

// statePace sends one bookmark again if its pace is out of date. A long walk through history sends only catch-up
// bookmarks, and a failed run may have sent none; both have learned something. It moves no bookmark. After a
// failure it must not end an incomplete slice.
func (r *runState) statePace(ctx context.Context, failed bool) error {
	now := r.pace()
	current := samePace(now, r.bookmarks.lastPace) && r.p.Now().Sub(r.bookmarks.toldAt) < paceAge
	if len(now) == 0 || current || failed && r.out.sliceOpen() {
		return nil
	}
	m := &protocol.State{}
	if m.Stream, m.Cursor = r.anyBookmark(); m.Stream == "" {
		return nil
	}
	if r.bookmarks.accounts[m.Stream] {
		m.Accounted = &protocol.KeyCoverage{} // it covers no key
	}
	return r.state(ctx, m)
}

// anyBookmark returns a steady bookmark that is known to be right: the last one that this run sent, or the one
// that it started with. A full refresh starts with none, and the stored one stays until a slice replaces it. It
// prefers a stream that commits by slices, because the others store nothing of a failed run.
func (r *runState) anyBookmark() (stream string, cursor jsontext.Value) {
	for _, s := range r.start.Scope.Streams {
		mark := r.bookmarks.sent[s.Name]
		if mark == nil {
			mark = r.stored(s.Name, protocol.SteadyState)
		}
		if r.scope[s.Name] == nil || mark.Kind() != '{' {
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

func (r *runState) commitsSlices(stream string) bool {
	return r.scope[stream].stream.Checkpoint == manifest.CheckpointSlice
}

// samePace compares two paces without their recording times.
func samePace(a, b map[string]float64) bool {
	without := func(m map[string]float64) map[string]float64 {
		m = maps.Clone(m)
		maps.DeleteFunc(m, func(name string, _ float64) bool { return strings.HasSuffix(name, governor.FieldRecorded) })
		return m
	}
	return maps.Equal(without(a), without(b))
}

// stored returns a stream's stored bookmark, as its collector sent it. A full refresh starts without one: its
// START contains only the pace.
func (r *runState) stored(stream string, mode protocol.CursorMode) jsontext.Value {
	switch {
	case r.start.CollectionMode == protocol.FullRefresh:
		return nil
	case mode == protocol.CatchUp:
		return r.start.CatchUpState[stream]
	default:
		mark, _ := protocol.SplitCompared(withoutPace(r.start.State[stream]))
		return mark
	}
}
