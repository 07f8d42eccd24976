package runner

import (
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/manifest/gate"
	"github.com/pdpp-go/pdpp/protocol"
)

// stream is everything that the accounting knows of one stream in scope, and its gate.
type stream struct {
	*gate.Stream
	name    string
	slice   bool     // commits its cursor with each slice
	details []string // detail streams in scope that this one anchors

	sent       int64
	collected  int64
	rejected   map[protocol.Reason]int64
	tooLarge   int64                      // files that were left out because of their size
	refused    map[string]protocol.Reason // by key, as far as gaps tell them one by one
	ended      bool                       // too much of it was rejected
	otherKeys  otherKeys
	gaps       int64
	considered protocol.Count
	covered    protocol.Count
	skipped    *SkippedFact
	drift      *protocol.AnswerDrift
	lasts      lasting // of skipped
	certified  bool    // declared as failed by SKIP_RESULT stream_collection_failed
	staged     map[protocol.CursorMode]slice.Cursor
	open       map[string]bool // keys of its slices that nothing stood for yet
	moved      bool            // a cursor is on its way to the Sink, or there
	withheld   bool
	walk       *walk // nil until one begins
	missing    int64 // stored records that a walk did not meet and that were kept
}

// resolveScope gives the streams of the requested scope, or why there are none.
func resolveScope(spec Spec) ([]*stream, error) {
	m := spec.Manifest
	gates, err := gate.Resolve(m, spec.Scope)
	if err == nil && spec.Foreign {
		gate.KeepKeys(gates)
		err = gate.EnforceSchemas(gates)
	}
	if err != nil {
		return nil, err
	}
	var out []*stream
	for _, g := range gates {
		st := &stream{
			Stream: g, name: g.Decl.Name, slice: g.Decl.Commit() == manifest.CheckpointSlice,
			staged: map[protocol.CursorMode]slice.Cursor{}, open: map[string]bool{},
		}
		for _, d := range m.DetailStreams(st.name) {
			if slices.ContainsFunc(gates, func(g *gate.Stream) bool { return g.Decl.Name == d }) {
				st.details = append(st.details, d)
			}
		}
		out = append(out, st)
	}
	return out, nil
}

// missingBinding names a required binding that this machine does not offer.
func missingBinding(m *manifest.Manifest, offered map[string]jsontext.Value) string {
	for _, name := range m.RequiredBindings() {
		if _, ok := offered[string(name)]; !ok {
			return string(name)
		}
	}
	return ""
}

func storedTime(t time.Time) string { return t.UTC().Format(protocol.StoredTime) }

// quoted names a stream or a mode, which are identifiers and not content.
func quoted(s string) string { return `"` + s + `"` }
