// Package gate checks the messages of a connector against its scope and its manifest. The runner and the
// conformance checks use the same gates.
package gate

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// Stream checks the records of one stream in scope.
type Stream struct {
	Decl *manifest.Stream
	// Scope is the scope that the connector gets, including fields that a record always needs.
	Scope protocol.StreamScope

	resources map[string]bool // nil means no filter
	fields    map[string]bool // nil means no filter
	since     time.Time
	until     time.Time
	schema    *jsonschema.Schema // nil: not enforced
	quick     *Schema            // compiled schema; nil if the schema is too complex
	keepsKeys bool
}

// Resolve converts the requested scope to gates. An empty scope means everything that can be collected. Errors
// are mistakes of the caller, found before anything is started.
func Resolve(m *manifest.Manifest, requested []protocol.StreamScope) ([]*Stream, error) {
	if len(requested) == 0 {
		requested = m.DefaultScope()
	}
	var out []*Stream
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
		st, err := newStreamGate(decl, sc)
		if err != nil {
			return nil, err
		}
		out = append(out, st)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("connector %s has no stream to collect", m.Key())
	}
	return out, nil
}

// EnforceSchemas makes the gates also check records against the schemas of their streams.
func EnforceSchemas(gates []*Stream) (err error) {
	for _, st := range gates {
		if st.schema, err = st.Decl.CompileSchema(); err != nil {
			return err
		}
		st.quick, _ = CompileSchema(jsontext.Value(st.Decl.Schema), st.schema)
	}
	return nil
}

// KeepKeys makes the gates accept a record with a key other than the value of its primary key. Foreign connectors
// send such records.
func KeepKeys(gates []*Stream) {
	for _, st := range gates {
		st.keepsKeys = true
	}
}

func newStreamGate(decl *manifest.Stream, sc protocol.StreamScope) (*Stream, error) {
	st := &Stream{Decl: decl}
	if err := st.setTimeRange(sc.TimeRange); err != nil {
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
	st.Scope = sc
	return st, nil
}

// setTimeRange parses the time range. Its errors continue the text "time_range".
func (st *Stream) setTimeRange(tr *protocol.TimeRange) (err error) {
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

// widenFields adds the fields that a record always needs: required and key fields, and the time field if the run
// is bounded in time.
func widenFields(decl *manifest.Stream, sc protocol.StreamScope) []string {
	out := append([]string{}, sc.Fields...)
	out = append(out, decl.RequiredFields()...)
	out = append(out, decl.PrimaryKey...)
	if sc.TimeRange != nil && decl.ConsentTimeField != "" {
		out = append(out, decl.ConsentTimeField)
	}
	if field := decl.ResourceField(); field != "" && len(sc.Resources) > 0 {
		out = append(out, field)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func streamNames(m *manifest.Manifest) string {
	names := make([]string, len(m.Streams))
	for i := range m.Streams {
		names[i] = m.Streams[i].Name
	}
	return strings.Join(names, ", ")
}

func parseBound(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	return protocol.ParseTime(s)
}
