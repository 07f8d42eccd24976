package runner

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"pdpp/manifest"
	"pdpp/protocol"
)

// stream is everything that the gate and the accounting know of one stream in scope.
type stream struct {
	name      string
	decl      *manifest.Stream
	scope     protocol.StreamScope
	resources map[string]bool
	fields    map[string]bool // nil means no filter
	since     time.Time
	until     time.Time
	slice     bool     // commits its cursor with each slice
	details   []string // detail streams in scope that this one anchors

	collected  int64
	gaps       int64
	considered protocol.Count
	covered    protocol.Count
	skipped    *SkippedFact
	lasts      lasting // of skipped
	certified  bool    // declared as failed by SKIP_RESULT stream_collection_failed
	staged     map[protocol.CursorMode]Cursor
	open       map[string]bool // keys of its slices that nothing stood for yet
	moved      bool            // a cursor is on its way to the Sink, or there
	withheld   bool
}

// resolveScope turns the requested scope into gates. Problems are the caller's
// mistake, found before anything is started.
func resolveScope(m *manifest.Manifest, requested []protocol.StreamScope) ([]*stream, error) {
	if len(requested) == 0 {
		requested = DefaultScope(m)
	}
	var out []*stream
	seen := map[string]bool{}
	for _, sc := range requested {
		decl, ok := m.Stream(sc.Name)
		switch {
		case !ok:
			return nil, fmt.Errorf("stream %q is not declared by connector %s; it declares %s", sc.Name, m.Key(), streamNames(m))
		case seen[sc.Name]:
			return nil, fmt.Errorf("stream %q is named twice in the scope", sc.Name)
		}
		seen[sc.Name] = true
		st, err := newStream(decl, sc)
		if err != nil {
			return nil, err
		}
		out = append(out, st)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("connector %s has no stream to collect", m.Key())
	}
	for _, st := range out {
		for _, d := range m.DetailStreams(st.name) {
			if seen[d] {
				st.details = append(st.details, d)
			}
		}
	}
	return out, nil
}

func newStream(decl *manifest.Stream, sc protocol.StreamScope) (*stream, error) {
	st := &stream{
		name: sc.Name, decl: decl,
		slice:  decl.Commit() == manifest.CheckpointSlice,
		staged: map[protocol.CursorMode]Cursor{}, open: map[string]bool{},
	}
	if err := st.bound(sc.TimeRange); err != nil {
		return nil, fmt.Errorf("stream %q: time_range%w", sc.Name, err)
	}
	if len(sc.Resources) > 0 {
		st.resources = map[string]bool{}
		for _, r := range sc.Resources {
			st.resources[r] = true
		}
	}
	if len(sc.Fields) > 0 {
		sc.Fields = widenFields(decl, sc)
		st.fields = map[string]bool{}
		for _, f := range sc.Fields {
			st.fields[f] = true
		}
	}
	st.scope = sc
	return st, nil
}

// bound reads the time range. Errors continue the words "time_range".
func (st *stream) bound(tr *protocol.TimeRange) (err error) {
	if tr == nil {
		return nil
	}
	if st.since, err = parseBound(tr.Since); err != nil {
		return fmt.Errorf(".since: %w", err)
	}
	if st.until, err = parseBound(tr.Until); err != nil {
		return fmt.Errorf(".until: %w", err)
	}
	switch {
	case tr.Since == "" && tr.Until == "":
		return errors.New(" names neither since nor until")
	case tr.Since != "" && tr.Until != "" && !st.since.Before(st.until):
		return errors.New(" is empty: since is not before until")
	}
	return nil
}

// widenFields adds what a record cannot do without: required and key fields,
// and the time field when the run is bounded in time.
func widenFields(decl *manifest.Stream, sc protocol.StreamScope) []string {
	out := append([]string{}, sc.Fields...)
	out = append(out, decl.RequiredFields()...)
	out = append(out, decl.PrimaryKey...)
	if sc.TimeRange != nil && decl.ConsentTimeField != "" {
		out = append(out, decl.ConsentTimeField)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// DefaultScope is every stream that the connector can collect as it is set up.
func DefaultScope(m *manifest.Manifest) []protocol.StreamScope {
	var out []protocol.StreamScope
	for i := range m.Streams {
		s := &m.Streams[i]
		unsupported := s.Availability != nil && s.Availability.State == manifest.AvailabilityUnsupportedInMode
		if p := s.Policy(); !unsupported && p != manifest.PolicyUnsupported && p != manifest.PolicyUnavailable {
			out = append(out, protocol.StreamScope{Name: s.Name})
		}
	}
	return out
}

func streamNames(m *manifest.Manifest) string {
	names := make([]string, len(m.Streams))
	for i := range m.Streams {
		names[i] = m.Streams[i].Name
	}
	return strings.Join(names, ", ")
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

func parseBound(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	return protocol.ParseTime(s)
}
