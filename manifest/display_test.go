package manifest

import (
	"strings"
	"testing"
)

func TestDisplayRules(t *testing.T) {
	const at = "streams[1].display"
	roles := func(pairs ...string) map[string]any {
		out := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			out[pairs[i]] = pairs[i+1]
		}
		return out
	}
	runBadCases(t, []badCase{
		{
			"role of a field that is not there",
			edits{at: map[string]any{"kind": "document", "roles": roles("title", "subject", "author", "nobody")}},
			[]string{at + ".roles.author"},
		},
		{
			"the same without a kind",
			edits{at: map[string]any{"roles": roles("title", "headline")}},
			[]string{at + ".roles.title"},
		},
		{
			"the same of a kind that is not known",
			edits{at: map[string]any{"kind": "sculpture", "roles": roles("title", "headline")}},
			[]string{at + ".roles.title"},
		},
		{
			"measurement without a value",
			edits{at: map[string]any{"kind": "measurement", "roles": roles("time", "updated_at")}},
			[]string{at + ".roles.value"},
		},
		{
			"transaction without roles",
			edits{at: map[string]any{"kind": "transaction"}},
			[]string{at + ".roles.time", at + ".roles.amount"},
		},
		{
			"place without a place",
			edits{at: map[string]any{"kind": "place", "roles": roles("title", "subject")}},
			[]string{at + ".roles.latitude", at + ".roles.longitude"},
		},
		{
			"blank role",
			edits{at: map[string]any{"kind": "document", "roles": roles("title", " ")}},
			[]string{at + ".roles.title"},
		},
		{
			"role that is a list",
			edits{at: map[string]any{"kind": "document", "roles": map[string]any{"title": []any{"subject"}}}},
			[]string{at + ".roles.title"},
		},
		{"scale of nothing", edits{at: map[string]any{"scale": 0}}, []string{at + ".scale"}},
	})
}

// A manifest may be newer than the program: unknown kinds are reported and shown as a table.
func TestUnknownDisplay(t *testing.T) {
	m, warnings, err := Inspect(edited(t, edits{"streams[1].display": map[string]any{
		"kind": "sculpture", "roles": map[string]any{"title": "subject", "material": "bronze"}}}))
	if err != nil {
		t.Fatal(err)
	}
	if s := m.Streams[1]; s.Shown() != "" || s.Display.Kind != "sculpture" || s.Roles().Title != "subject" {
		t.Errorf("shown as %q, display %+v", s.Shown(), s.Display)
	}
	var texts []string
	for _, w := range warnings {
		texts = append(texts, w.String())
	}
	all := strings.Join(texts, "\n")
	for _, want := range []string{"streams[1].display.kind: \"sculpture\" is not a kind that has a page",
		"use one of conversation, message", "streams[1].display.roles.material"} {
		if !strings.Contains(all, want) {
			t.Errorf("nothing says %q:\n%s", want, all)
		}
	}
}
