package runstate

import (
	"slices"
	"testing"

	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// TestStreamScope checks which members a scope keeps beside those that it names, and which scopes are refused.
func TestStreamScope(t *testing.T) {
	m := &manifest.Manifest{Streams: []manifest.Stream{
		{Name: "letters", PrimaryKey: []string{"id"}, ConsentTimeField: "at",
			Selection: &manifest.Selection{ResourceField: "sender"},
			Schema:    []byte(`{"type":"object","required":["kind"],"properties":{"kind":{}}}`)},
		{Name: "tags", PrimaryKey: []string{"tag"}},
	}}
	january := &protocol.TimeRange{Since: "2026-01-01", Until: "2026-02-01T00:00:00Z"}
	for _, c := range []struct {
		name    string
		scope   protocol.StreamScope
		fields  []string
		refused string
	}{
		{"everything", protocol.StreamScope{Name: "letters"}, nil, ""},
		{"members", protocol.StreamScope{Name: "letters", Fields: []string{"text"}}, []string{"text", "kind", "id"}, ""},
		{"members and time", protocol.StreamScope{Name: "letters", Fields: []string{"text"}, TimeRange: january},
			[]string{"text", "kind", "id", "at"}, ""},
		{"members and resources", protocol.StreamScope{Name: "letters", Fields: []string{"text"},
			Resources: []string{"mara"}},
			[]string{"text", "kind", "id", "sender"}, ""},
		{"resources by key", protocol.StreamScope{Name: "tags", Fields: []string{"text"}, Resources: []string{"x"}},
			[]string{"text", "tag"}, ""},
		{"time without a field", protocol.StreamScope{Name: "tags", TimeRange: january}, nil,
			"the stream has no time to select by"},
		{"broken beginning", protocol.StreamScope{Name: "letters", TimeRange: &protocol.TimeRange{Since: "soon"}}, nil,
			"the time range cannot be read"},
		{"broken end", protocol.StreamScope{Name: "letters", TimeRange: &protocol.TimeRange{Until: "late"}}, nil,
			"the time range cannot be read"},
		{"unknown", protocol.StreamScope{Name: "calls"}, nil, "this connector has no such stream"},
	} {
		got, refused := NewStreamScope(m, c.scope)
		if refused != c.refused {
			t.Errorf("%s: refused as %q, want %q", c.name, refused, c.refused)
		} else if refused == "" && !slices.Equal(got.fields, c.fields) {
			t.Errorf("%s: keeps %q, want %q", c.name, got.fields, c.fields)
		}
	}
}
