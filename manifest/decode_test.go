package manifest

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestParseReportsEverythingAtOnce(t *testing.T) {
	ps := problemsOf(t, edited(t, edits{
		"version":                           7,
		"display_name":                      remove,
		"capabilities.human_interaction[0]": "smile",
		"capabilities.refresh_policy.tempo": "allegro",
		"streams[1].coverage_policy":        "sometimes",
		"streams[1].selection.fields":       "all",
		"streams[2].parent_streams[0]":      "parcels",
		"streams[3].cursor_field":           "moved_at",
	}))
	got := pathsOf(ps)
	slices.Sort(got)
	want := []string{
		"capabilities.human_interaction[0]",
		"capabilities.refresh_policy.tempo",
		"display_name",
		"streams[1].coverage_policy",
		"streams[1].selection.fields",
		"streams[2].parent_streams[0]",
		"streams[3].cursor_field",
		"version",
	}
	if !slices.Equal(got, want) {
		t.Errorf("paths = %q\nwant    %q", got, want)
	}
	if lines := strings.Count(ps.Error(), "\n") + 1; lines != len(ps) {
		t.Errorf("%d lines for %d problems:\n%v", lines, len(ps), ps)
	}
}

func TestParseWrongTypes(t *testing.T) {
	cases := []badCase{
		{"string", edits{"version": true}, []string{"version"}},
		{
			"number",
			edits{"runtime_requirements.external_tools[0].detect.exit_code": "3"},
			[]string{"runtime_requirements.external_tools[0].detect.exit_code"},
		},
		{
			"huge number",
			edits{policyPath + ".maximum_staleness_seconds": 1e300},
			[]string{policyPath + ".maximum_staleness_seconds"},
		},
		{"boolean", edits{"streams[1].incremental": 1}, []string{"streams[1].incremental"}},
		{"object", edits{"setup": []any{}}, []string{"setup"}},
		{"map", edits{"runtime_requirements.bindings": []any{"network"}}, []string{"runtime_requirements.bindings"}},
		{"list", edits{"streams": "all", "profiles": remove}, []string{"streams"}},
		{"list element", edits{"streams[4]": "stamps"}, []string{"streams[4]"}},
		{"list of strings", edits{"streams[1].query.filter[0]": 1}, []string{"streams[1].query.filter[0]"}},
		{"neither list nor object", edits{"streams[1].query.search": "subject"}, []string{"streams[1].query.search"}},
		{"null", edits{"icon": nil}, []string{"icon"}},
		{"null raw value", edits{"capabilities.proven": nil}, []string{"capabilities.proven"}},
		{
			"key that needs quoting",
			edits{"capabilities.refresh_policy.why so": 1},
			[]string{`capabilities.refresh_policy["why so"]`},
		},
	}
	runBadCases(t, cases)
}

func TestParseRepeatedKeys(t *testing.T) {
	repeat := func(from, to string) []byte {
		b := bytes.Replace(example(t), []byte(from), []byte(to), 1)
		if bytes.Equal(b, example(t)) {
			t.Fatalf("%s is not in the example", from)
		}
		return b
	}
	cases := []struct {
		doc  []byte
		want Problem
	}{
		{repeat(`"icon":`, `"icon": "stamp", "icon":`), Problem{"icon", "appears twice", "keep one of the two"}},
		{
			repeat(`"network":`, `"network": {}, "network":`),
			Problem{"runtime_requirements.bindings.network", "appears twice", "keep one of the two"},
		},
		{repeat(`"subject": {"type"`, `"subject": {"type": "null", "type"`),
			Problem{"streams[1].schema", "repeats the key at /properties/subject/type", "keep one of the two"}},
	}
	for _, c := range cases {
		if ps := problemsOf(t, c.doc); !slices.Equal(ps, Problems{c.want}) {
			t.Errorf("problems = %+v, want %+v", ps, c.want)
		}
	}
}

func TestParseWhatIsNoObject(t *testing.T) {
	for _, doc := range []string{`[]`, `"manifest"`, `7`, `null`, `true`} {
		ps := problemsOf(t, []byte(doc))
		if len(ps) != 1 || ps[0].Path != "" || !strings.HasPrefix(ps.Error(), "manifest: is ") {
			t.Errorf("%s: problems = %v", doc, ps)
		}
	}
}

func TestParseWhatIsNoJSON(t *testing.T) {
	for _, doc := range []string{"", "{", "{} {}", "{\"version\": \"\xff\"}", "\ufeff{}", "{'version': 1}"} {
		_, err := Parse([]byte(doc))
		var ps Problems
		if err == nil || errors.As(err, &ps) {
			t.Errorf("Parse(%q) error = %v, want one that is not Problems", doc, err)
		}
	}
}

func TestProblemText(t *testing.T) {
	ps := problemsOf(t, edited(t, edits{"streams[2].coverage_policy": "sometimes"}))
	want := `streams[2].coverage_policy: "sometimes" is not a known value; use one of collect, deferred, ` +
		`inventory_only, unavailable, unsupported`
	if ps.Error() != want {
		t.Errorf("error = %s\nwant    %s", ps, want)
	}
	long := problemsOf(t, edited(t, edits{"streams[2].coverage_policy": strings.Repeat("é", 500)}))
	if len(long.Error()) > 300 {
		t.Errorf("a long value is repeated in full: %s", long)
	}
}

// Unknown keys are reported and ignored; only the refresh policy rejects them.
func TestUnknownKeysAreWarnings(t *testing.T) {
	m, warnings, err := Inspect(edited(t, edits{
		"colour": "green", "why so": 1, "setup.why so": 1, "streams[1].query.search.vectors": []any{},
		"runtime_requirements.bindings.network.optional": true, "streams[2].glue": map[string]any{"parent_streams": 7},
	}))
	if err != nil {
		t.Fatal(err)
	}
	got := pathsOf(warnings)
	slices.Sort(got)
	want := []string{
		`["why so"]`,
		"colour",
		"runtime_requirements.bindings.network.optional",
		`setup["why so"]`,
		"streams[1].query.search.vectors",
		"streams[2].glue",
	}
	if !slices.Equal(got, want) {
		t.Errorf("warnings at %q\nwant        %q", got, want)
	}
	if !m.Equal(parse(t, example(t))) {
		t.Error("an unknown key changes what is read")
	}
}

// The spellings that other authors use read as the ones documented here.
func TestOtherSpellings(t *testing.T) {
	for _, c := range []struct {
		other, ours edits
	}{
		{edits{"streams[2].semantics": "append"}, edits{"streams[2].semantics": "append_only"}},
		{edits{"setup.modality": "provider_authorization"}, edits{"setup.modality": "provider_auth"}},
		{edits{"runtime_requirements.environment_variables[0]": "FERNPOST_REGION"},
			edits{"runtime_requirements.environment_variables[0]": map[string]any{"name": "FERNPOST_REGION"}}},
		{edits{"streams[1].query.search": []any{"subject"}},
			edits{"streams[1].query.search": map[string]any{"lexical_fields": []any{"subject"}}}},
		{edits{"runtime_requirements.local_paths": map[string]any{
			"home_env_override": "FERNPOST_HOME", "home_default_relative_to_user_home": ".fernpost",
			"paths": []any{map[string]any{"env_override": "FERNPOST_ARCHIVE_DIR", "default_relative_to_home": "archive",
				"label": "Folder with older letters.", "required_for_readiness": true}},
		}}, edits{}},
		{edits{"runtime_requirements.local_paths": map[string]any{
			"home_default_relative_to_user_home": ".fernpost",
			"paths": []any{map[string]any{"env_override": "FERNPOST_BOX",
				"default_relative_to_home": "box"}},
		}}, edits{"runtime_requirements.local_paths": []any{map[string]any{"path_env": "FERNPOST_BOX",
			"default": ".fernpost/box"}}}},
	} {
		if !parse(t, edited(t, c.other)).Equal(parse(t, edited(t, c.ours))) {
			t.Errorf("%v reads otherwise than %v", c.other, c.ours)
		}
		if err := validate(t, manifestSchema(t), edited(t, c.other)); err != nil {
			t.Errorf("the schema refuses %v: %v", c.other, err)
		}
	}
}
