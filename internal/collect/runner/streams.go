package runner

import (
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/manifest/gate"
	"github.com/pdpp-go/pdpp/protocol"
)

// stream is one stream in scope: its validator and the counts and decisions of this run.
type stream struct {
	*gate.Stream
	name    string
	slice   bool     // commits its cursor with each slice
	details []string // detail streams in scope with this one as their parent

	sent       int64
	collected  int64
	rejected   map[protocol.Reason]int64
	tooLarge   int64                      // files that were left out because of their size
	rejectedBy map[string]protocol.Reason // by key, for rejected records with a gap of their own
	ended      bool                       // too many records were rejected
	otherKeys  otherKeys
	gaps       int64
	considered protocol.Count
	covered    protocol.Count
	skipped    *SkippedFact
	drift      *protocol.AnswerDrift
	permanence skipPermanence // of skipped
	certified  bool           // declared as failed by SKIP_RESULT stream_collection_failed
	staged     map[protocol.CursorMode]slice.Cursor
	open       map[string]bool // keys of its slices that are neither fetched nor covered by a gap
	moved      bool            // a cursor was handed to the committer
	withheld   bool            // its staged cursors must not be committed
	walk       *streamWalk     // nil until one begins
	missing    int64           // stored records that a walk did not find and that are not deleted
}

// streamSet holds the streams in scope.
type streamSet struct {
	order  []*stream
	byName map[string]*stream
}

func newStreamSet(order []*stream) streamSet {
	set := streamSet{order: order, byName: make(map[string]*stream, len(order))}
	for _, st := range order {
		set.byName[st.name] = st
	}
	return set
}

// resolveScope returns the streams of the requested scope.
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

func (s *streamSet) names() (out []string) {
	for _, st := range s.order {
		out = append(out, st.name)
	}
	return out
}

// commitsBySlice reports whether records of the stream become durable with their slice.
func (s *streamSet) commitsBySlice(stream string) bool { return s.byName[stream].slice }

// undeclared returns the violation of a message about a stream that is not in scope.
func (s *streamSet) undeclared(sub protocol.Subtype, t protocol.MessageType, name string) *protocol.Violation {
	return &protocol.Violation{Subtype: sub, MessageType: t, Stream: name, Received: "stream " + quoted(name),
		Expected: s.names()}
}

// gapParent returns the parent stream of a gap: the declared one, or the only possible one.
func (s *streamSet) gapParent(st *stream, m *protocol.DetailGap) (string, *protocol.Violation) {
	parents := st.Decl.ParentStreams
	if len(parents) == 0 || slices.Contains(parents, m.ParentStream) {
		return m.ParentStream, nil
	}
	if len(parents) > 1 {
		parents = slices.DeleteFunc(slices.Clone(parents), func(p string) bool { return s.byName[p] == nil })
	}
	if m.ParentStream == "" && len(parents) == 1 {
		return parents[0], nil
	}
	v := invalidField(m, m.Stream, "")
	v.Expected = st.Decl.ParentStreams
	return "", v
}

// onlyParent returns the only possible parent of a stream's gap, or "" where several are possible.
func (s *streamSet) onlyParent(st *stream) string {
	parent, _ := s.gapParent(st, &protocol.DetailGap{Stream: st.name})
	return parent
}

// certifiedFailures returns the streams that the connector declared as failed, and their parents.
func (s *streamSet) certifiedFailures() map[string]bool {
	out := map[string]bool{}
	for _, st := range s.order {
		if st.certified {
			for _, name := range st.withParents() {
				out[name] = true
			}
		}
	}
	return out
}

// withParents returns the names of the stream, of its state stream and of its parents.
func (st *stream) withParents() []string {
	return append([]string{st.name, st.Decl.StateStream}, st.Decl.ParentStreams...)
}

func (st *stream) primaryKey() string { return strings.Join(st.Decl.PrimaryKey, ", ") }

// missingBinding returns a required binding that this machine does not offer, or "".
func missingBinding(m *manifest.Manifest, offered map[string]jsontext.Value) string {
	for _, name := range m.RequiredBindings() {
		if _, ok := offered[string(name)]; !ok {
			return string(name)
		}
	}
	return ""
}

func storedTime(t time.Time) string { return t.UTC().Format(protocol.StoredTime) }

// quoted quotes an identifier, such as a stream or a mode.
func quoted(s string) string { return `"` + s + `"` }
