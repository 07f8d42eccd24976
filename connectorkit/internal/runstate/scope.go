package runstate

import (
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/failure"
	"github.com/pdpp-go/pdpp/connectorkit/internal/recordcheck"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// StreamScope is what this run may emit of one stream.
type StreamScope struct {
	Stream       *manifest.Stream
	Resources    map[string]bool // nil means all
	fields       []string        // nil means all
	Bounded      bool            // a time range applies
	since, until time.Time       // inclusive, exclusive; zero means open
	named        []string        // members with key, resource and time
}

// NewStreamScope parses one stream's scope. The text explains why it is not supported.
func NewStreamScope(m *manifest.Manifest, s protocol.StreamScope) (*StreamScope, string) {
	stream, ok := m.Stream(s.Name)
	if !ok {
		return nil, "this connector has no such stream"
	}
	out := &StreamScope{
		Stream: stream,
		named:  append(slices.Clone([]string(stream.PrimaryKey)), stream.ResourceField(), stream.ConsentTimeField),
	}
	if len(s.Resources) > 0 {
		out.Resources = map[string]bool{}
		for _, key := range s.Resources {
			out.Resources[key] = true
		}
	}
	if t := s.TimeRange; t != nil {
		if stream.ConsentTimeField == "" {
			return nil, "the stream has no time to select by"
		}
		var okSince, okUntil bool
		out.Bounded = true
		out.since, okSince = recordcheck.ParseTimeBound(t.Since)
		out.until, okUntil = recordcheck.ParseTimeBound(t.Until)
		if !okSince || !okUntil {
			return nil, "the time range cannot be read"
		}
	}
	if len(s.Fields) > 0 {
		out.fields = slices.Concat(s.Fields, stream.RequiredFields(), stream.PrimaryKey)
		if out.Bounded {
			out.fields = append(out.fields, stream.ConsentTimeField)
		}
		if field := stream.ResourceField(); field != "" && out.Resources != nil {
			out.fields = append(out.fields, field)
		}
	}
	return out, ""
}

// selectingValue returns what selects the record: its key, or the field that the manifest names.
func (s *StreamScope) selectingValue(key string, tree map[string]any) string {
	field := s.Stream.ResourceField()
	if field == "" {
		return key
	}
	value, _ := primaryKeyOf(tree, manifest.PrimaryKey{field})
	return value
}

// admitsRecord reports whether the record is in scope. It returns a fault if that cannot be determined.
func (s *StreamScope) admitsRecord(key string, tree map[string]any) (bool, *failure.Fault) {
	if s.Resources != nil && !s.Resources[s.selectingValue(key, tree)] {
		return false, nil
	}
	if !s.Bounded {
		return true, nil
	}
	text, _ := tree[s.Stream.ConsentTimeField].(string)
	at, ok := recordcheck.ParseTimeBound(text)
	if !ok || text == "" {
		return false, &failure.Fault{Key: key, Path: "/properties/" + s.Stream.ConsentTimeField}
	}
	return !at.Before(s.since) && (s.until.IsZero() || at.Before(s.until)), nil
}

// IsUnrestricted reports whether all records of the stream are requested.
func (s *StreamScope) IsUnrestricted() bool { return s != nil && !s.Bounded && s.Resources == nil }

// projectFields keeps only the selected fields, with unchanged values.
func (s *StreamScope) projectFields(raw jsontext.Value) (jsontext.Value, error) {
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
