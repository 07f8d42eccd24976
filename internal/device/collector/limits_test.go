package collector

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/manifest"
)

// TestLimits compares what a run is limited to with the owner's scope and the deleted streams.
func TestLimits(t *testing.T) {
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	streams := []manifest.Stream{{Name: "notes", ConsentTimeField: "at"}, {Name: "tags"}}
	const since = `"since":"2026-02-01T01:00:00+01:00"`
	for _, c := range []struct {
		scope, deleted string
		foreign        bool
		want           string
	}{
		{``, ``, true, `[] `},
		{`{}`, `[]`, true, `[] `},
		{`{` + since + `}`, ``, false, `[notes from 2026-02-01T00:00:00Z tags] `},
		{``, `["notes"]`, false, `[tags] `},
		{`{` + since + `}`, `["tags"]`, true, `[notes from 2026-02-01T00:00:00Z] `},
		{``, `["tags","notes"]`, false, `the owner deleted every stream of this source`},
		{`{"source_roots":["/a/b","~/c"]}`, ``, false, `[] ["/a/b","` + filepath.Join(home, "c") + `"]`},
		{`{"source_roots":["/a"]}`, ``, true, `the connector diary cannot be limited to folders, and the owner named some`},
		{`[]`, ``, false, `read the scope`},
		{``, `{}`, false, `read the deleted streams`},
	} {
		state := map[string]jsontext.Value{}
		if c.scope != "" {
			state[wire.ScopeKey] = jsontext.Value(c.scope)
		}
		if c.deleted != "" {
			state[wire.DeletedKey] = jsontext.Value(c.deleted)
		}
		p := &pass{server: wire.State{State: state}}
		l, err := p.limits(catalog.Connector{Name: "diary", Builtin: !c.foreign,
			Manifest: &manifest.Manifest{Streams: streams}})
		named := []string{}
		for _, s := range l.streams {
			if s.TimeRange != nil {
				s.Name += " from " + s.TimeRange.Since
			}
			named = append(named, s.Name)
		}
		got := fmt.Sprintf("%v %s", named, l.folders)
		if err != nil {
			got = err.Error()[:min(len(c.want), len(err.Error()))]
		}
		if got != c.want {
			t.Errorf("%s without %s: %s, want %s", c.scope, c.deleted, got, c.want)
		}
	}
}
