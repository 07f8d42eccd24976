package connectorkit

import (
	"context"
	"maps"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"pdpp/governor"
	"pdpp/manifest"
	"pdpp/protocol"
)

// bookmarks are the steady bookmarks of a run, without pace.
type bookmarks struct {
	sent     map[string]jsontext.Value // by stream, as last sent
	accounts map[string]bool           // streams whose STATE must carry an account
	told     map[string]float64        // the pace that went out last
	toldAt   time.Time
	compared map[string]int64 // when a stream was last compared with the store, in Unix milliseconds; zero: never
	walks    map[string]bool  // streams of which the runner notes what is sent
	holes    map[string]bool  // streams of which this run left something out
}

func newBookmarks() bookmarks {
	return bookmarks{sent: map[string]jsontext.Value{}, accounts: map[string]bool{}, compared: map[string]int64{},
		walks: map[string]bool{}, holes: map[string]bool{}}
}

// state sends a bookmark. A steady one carries the pace.
func (r *run) state(ctx context.Context, m *protocol.State) error {
	if m.Mode == protocol.SteadyState && m.Cursor.Kind() == '{' {
		b := &r.bookmarks
		b.sent[m.Stream], b.told, b.toldAt = m.Cursor, r.pace(), r.p.Now()
		m.Cursor = withPace(protocol.WithCompared(m.Cursor, b.compared[m.Stream]), b.told)
	}
	return r.out.send(ctx, m)
}

// paceAge is how old the pace on the last bookmark may be at the end of a run.
const paceAge = time.Minute

// statePace sends one bookmark again when the pace on the last one is out of
// date. A long walk through history sends catch-up bookmarks alone, and a run
// that fails may have sent none; both have learned something. It moves no
// bookmark. After a failure it must not end a slice that is not complete.
func (r *run) statePace(ctx context.Context, failed bool) error {
	now := r.pace()
	current := samePace(now, r.bookmarks.told) && r.p.Now().Sub(r.bookmarks.toldAt) < paceAge
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

// anyBookmark finds a steady bookmark that is known to be right: as this run sent
// it last, or as it was started with. A full refresh is started with none, and
// what the store has stays there until a slice replaces it. A stream that commits
// by slices is preferred, because the others keep nothing of a failed run.
func (r *run) anyBookmark() (stream string, cursor jsontext.Value) {
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

func (r *run) commitsSlices(stream string) bool {
	return r.scope[stream].stream.Checkpoint == manifest.CheckpointSlice
}

// samePace compares two paces but for the time at which they were recorded.
func samePace(a, b map[string]float64) bool {
	without := func(m map[string]float64) map[string]float64 {
		m = maps.Clone(m)
		maps.DeleteFunc(m, func(name string, _ float64) bool { return strings.HasSuffix(name, governor.FieldRecorded) })
		return m
	}
	return maps.Equal(without(a), without(b))
}

// stored is a stream's persisted bookmark, as its collector sent it. A full
// refresh starts without any: its START carries the pace alone.
func (r *run) stored(stream string, mode protocol.CursorMode) jsontext.Value {
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
