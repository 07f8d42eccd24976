package declaration

import (
	"maps"
	"slices"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/owner/service/ownertest"
	"github.com/pdpp-go/pdpp/manifest"
)

func TestDescribe(t *testing.T) {
	t.Parallel()
	m, err := manifest.Parse([]byte(ownertest.GardenManifest))
	if err != nil {
		t.Fatal(err)
	}
	c := DescribeConnector("garden", m)
	if c.DisplayName != "Garden" || c.Device || c.Refresh.Mode != "automatic" || c.Refresh.StaleSeconds != 86400 {
		t.Errorf("connector %+v", c)
	}
	if c.Form == nil || len(c.Form.Fields) != 2 || c.Form.Fields[1].Help != "Its number." ||
		c.Form.Fields[1].Type != "text" {
		t.Errorf("form %+v", c.Form)
	}
	if s := c.Streams[0]; s.Label != "Flower beds" ||
		!slices.Equal(s.Fields, []string{"id", "name", "kind", "size", "dug_at"}) ||
		!slices.Equal(s.Filter, []string{"kind"}) {
		t.Errorf("stream %+v", s)
	}
	if got := StreamLabel(DescribeStream(m, "old_paths"), "old_paths"); got != "Old paths" {
		t.Errorf("a stream that is not declared is called %q", got)
	}
}

func TestFieldKinds(t *testing.T) {
	t.Parallel()
	_, got := Fields(jsontext.Value(`{"properties":{"a":{"type":["string","null"]},"b":{"type":"integer"},
		"c":{"type":"number"},"d":{"type":["null","boolean"]},"e":{"type":"string","format":"date-time"},
		"f":{"type":"string","format":"date"},"g":{"type":["string","integer"]},"h":{},"i":{"type":"array"},"j":true}}`))
	want := map[string]string{"a": "text", "b": "integer", "c": "number", "d": "boolean", "e": "time", "f": "date",
		"g": "json", "h": "json", "i": "json", "j": "json"}
	if !maps.Equal(got, want) {
		t.Errorf("kinds %v", got)
	}
}

// Fields never returns nil, returns no fields for an invalid schema, and a kind for each field.
func FuzzFields(f *testing.F) {
	for _, s := range []string{``, `7`, `{"properties":[]}`, `{"properties":{"a":{},"b":{"properties":{"c":{}}}}}`,
		`{"properties":{"a":{}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, schema string) {
		got, kinds := Fields(jsontext.Value(schema))
		for _, name := range got {
			if kinds[name] == "" {
				t.Errorf("%q gives no kind of %q", schema, name)
			}
		}
		if got == nil || len(got) > 0 && !jsontext.Value(schema).IsValid() {
			t.Errorf("%q gives %q", schema, got)
		}
	})
}
