package connectorkit

import (
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// streamScope is what this run may emit of one stream.
type streamScope struct {
	stream       *manifest.Stream
	resources    map[string]bool // nil means all
	fields       []string        // nil means all
	bounded      bool            // a time range applies
	since, until time.Time       // inclusive, exclusive; zero means open
	named        []string        // members with key, resource and time
}

// newStreamScope parses one stream's scope. The text explains why it is not supported.
func newStreamScope(m *manifest.Manifest, s protocol.StreamScope) (*streamScope, string) {
	stream, ok := m.Stream(s.Name)
	if !ok {
		return nil, "this connector has no such stream"
	}
	out := &streamScope{
		stream: stream,
		named:  append(slices.Clone([]string(stream.PrimaryKey)), stream.ResourceField(), stream.ConsentTimeField),
	}
	if len(s.Resources) > 0 {
		out.resources = map[string]bool{}
		for _, key := range s.Resources {
			out.resources[key] = true
		}
	}
	if t := s.TimeRange; t != nil {
		if stream.ConsentTimeField == "" {
			return nil, "the stream has no time to select by"
		}
		var okSince, okUntil bool
		out.bounded = true
		out.since, okSince = parseBound(t.Since)
		out.until, okUntil = parseBound(t.Until)
		if !okSince || !okUntil {
			return nil, "the time range cannot be read"
		}
	}
	if len(s.Fields) > 0 {
		out.fields = slices.Concat(s.Fields, stream.RequiredFields(), stream.PrimaryKey)
		if out.bounded {
			out.fields = append(out.fields, stream.ConsentTimeField)
		}
		if field := stream.ResourceField(); field != "" && out.resources != nil {
			out.fields = append(out.fields, field)
		}
	}
	return out, ""
}

// parseBound parses a bound or a record's time: RFC 3339 or a date. Empty is an open bound.
func parseBound(s string) (time.Time, bool) {
	if s == "" {
		return time.Time{}, true
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// resource returns what selects the record: its key, or the field that the manifest names.
func (s *streamScope) resource(key string, tree map[string]any) string {
	field := s.stream.ResourceField()
	if field == "" {
		return key
	}
	value, _ := primaryKeyOf(tree, manifest.PrimaryKey{field})
	return value
}

// admits reports whether the record is in scope. It returns a fault if that cannot be determined.
func (s *streamScope) admits(key string, tree map[string]any) (bool, *Fault) {
	if s.resources != nil && !s.resources[s.resource(key, tree)] {
		return false, nil
	}
	if !s.bounded {
		return true, nil
	}
	text, _ := tree[s.stream.ConsentTimeField].(string)
	at, ok := parseBound(text)
	if !ok || text == "" {
		return false, &Fault{Key: key, Path: "/properties/" + s.stream.ConsentTimeField}
	}
	return !at.Before(s.since) && (s.until.IsZero() || at.Before(s.until)), nil
}

// whole reports whether all records of the stream are requested.
func (s *streamScope) whole() bool { return s != nil && !s.bounded && s.resources == nil }

// project keeps only the selected fields, with unchanged values.
func (s *streamScope) project(raw jsontext.Value) (jsontext.Value, error) {
	if s.fields == nil {
		return raw, nil
	}
	kept := map[string]jsontext.Value{}
	var members map[string]jsontext.Value
	if err := json.Unmarshal(raw, &members); err != nil {
		return nil, err
	}
	for name, v := range members {
		if slices.Contains(s.fields, name) {
			kept[name] = v
		}
	}
	return json.Marshal(kept, json.Deterministic(true))
}
