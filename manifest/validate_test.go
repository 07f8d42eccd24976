package manifest

import (
	"slices"
	"strings"
	"testing"
)

type badCase struct {
	name  string
	edits edits
	want  []string // the path of every problem, in order
}

func runBadCases(t *testing.T, cases []badCase) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			ps := problemsOf(t, edited(t, c.edits))
			if got := pathsOf(ps); !slices.Equal(got, c.want) {
				t.Errorf("paths = %v, want %v\n%v", got, c.want, ps)
			}
			for _, p := range ps {
				if p.What == "" || p.Fix == "" {
					t.Errorf("%+v does not say what is wrong and how to fix it", p)
				}
			}
		})
	}
}

func TestTopLevelRules(t *testing.T) {
	runBadCases(t, []badCase{
		{"no protocol version", edits{"protocol_version": remove}, []string{"protocol_version"}},
		{"unknown protocol version", edits{"protocol_version": "9.0.0"}, []string{"protocol_version"}},
		{"no connector id", edits{"connector_id": remove}, []string{"connector_id"}},
		{"key with a space", edits{"connector_key": "fern post",
			"runtime_requirements.environment_variables[1].name": "FERNPOST_PAGE_SIZE"}, []string{"connector_key"}},
		{"no key in the id", edits{"connector_key": remove, "connector_id": "https://registry.example/42",
			"runtime_requirements.environment_variables[1].name": "FERNPOST_PAGE_SIZE"}, []string{"connector_id"}},
		{"no version", edits{"version": remove}, []string{"version"}},
		{"no display name", edits{"display_name": remove}, []string{"display_name"}},
		{"blank display name", edits{"display_name": " "}, []string{"display_name"}},
		{"link without address", edits{"external_docs[0].url": remove}, []string{"external_docs[0].url"}},
		{"link that is a script", edits{"external_docs[0].url": "javascript:alert(1)"}, []string{"external_docs[0].url"}},
		{
			"blank reason message",
			edits{"reason_display_messages.seal_key_wrong": ""},
			[]string{"reason_display_messages.seal_key_wrong"},
		},
	})
}

func TestRequirementRules(t *testing.T) {
	const rr = "runtime_requirements."
	runBadCases(t, []badCase{
		{
			"unknown binding",
			edits{rr + "bindings.telepathy": map[string]any{"required": true}},
			[]string{rr + "bindings.telepathy"},
		},
		{"tool without name", edits{rr + "external_tools[0].name": remove}, []string{rr + "external_tools[0].name"}},
		{"tool without detection", edits{rr + "external_tools[0].detect": remove}, []string{rr + "external_tools[0].detect"}},
		{
			"detection without executable",
			edits{rr + "external_tools[0].detect.executable": remove},
			[]string{rr + "external_tools[0].detect.executable"},
		},
		{
			"exit code beyond a byte",
			edits{rr + "external_tools[0].detect.exit_code": 256},
			[]string{rr + "external_tools[0].detect.exit_code"},
		},
		{
			"negative exit code",
			edits{rr + "external_tools[0].detect.exit_code": -1},
			[]string{rr + "external_tools[0].detect.exit_code"},
		},
		{"override in lower case", edits{rr + "external_tools[0].detect.executable_env_override": "fernseal"},
			[]string{rr + "external_tools[0].detect.executable_env_override"}},
		{
			"variable without name",
			edits{rr + "environment_variables[0].name": remove},
			[]string{rr + "environment_variables[0].name"},
		},
		{
			"variable in lower case",
			edits{rr + "environment_variables[0].name": "region"},
			[]string{rr + "environment_variables[0].name"},
		},
		{
			"plain variable in lower case",
			edits{rr + "environment_variables[0]": "region"},
			[]string{rr + "environment_variables[0].name"},
		},
		{
			"variable declared twice",
			edits{rr + "environment_variables[1].name": "FERNPOST_REGION"},
			[]string{rr + "environment_variables[1].name"},
		},
		{
			"variable of the runtime",
			edits{rr + "environment_variables[0].name": "PDPP_OWNER_PASSWORD"},
			[]string{rr + "environment_variables[0].name"},
		},
		{
			"variable of another connector",
			edits{rr + "environment_variables[0].name": "PDPP_FERNPOSTAL_X"},
			[]string{rr + "environment_variables[0].name"},
		},
		{"path without variable", edits{rr + "local_paths[1].path_env": remove}, []string{rr + "local_paths[1].path_env"}},
		{
			"default outside of the home",
			edits{rr + "local_paths[0].default": "../neighbour"},
			[]string{rr + "local_paths[0].default"},
		},
		{
			"default below a later path",
			edits{rr + "local_paths[0].within": "FERNPOST_ARCHIVE_DIR"},
			[]string{rr + "local_paths[0].within"},
		},
		{
			"home in lower case",
			edits{
				rr + "local_paths": map[string]any{"home_env_override": "home", "paths": []any{map[string]any{"label": "Box"}}},
			},
			[]string{rr + "local_paths.home_env_override", rr + "local_paths.paths[0].env_override"},
		},
		{
			"path variable of the runtime",
			edits{rr + "local_paths[1].path_env": "PDPP_HOME"},
			[]string{rr + "local_paths[1].path_env"},
		},
	})
}

func TestBrowserRules(t *testing.T) {
	const asked = "runtime_requirements.bindings.browser"
	with := func(browser any) edits { return edits{"browser": browser} }
	runBadCases(t, []badCase{
		{"a browser that is not asked for", edits{asked: remove}, []string{"runtime_requirements.bindings"}},
		{"no hosts", with(map[string]any{}), []string{"browser.hosts"}},
		{
			"an address for a host",
			with(map[string]any{"hosts": []any{"https://fernpost.example"}}),
			[]string{"browser.hosts[0]"},
		},
		{"any host", with(map[string]any{"hosts": []any{"fernpost.example", "*"}}), []string{"browser.hosts[1]"}},
		{"a host in capitals", with(map[string]any{"hosts": []any{"Fernpost.example"}}), []string{"browser.hosts[0]"}},
		{
			"an unknown kind of window",
			with(map[string]any{"hosts": []any{"fernpost.example"}, "headful": "always"}),
			[]string{"browser.headful"},
		},
	})
	if m := parse(
		t,
		edited(t, with(map[string]any{"hosts": []any{"fernpost.example", "mail.fernpost.example"}, "headful": "preferred"})),
	); len(m.Browser.Hosts) != 2 ||
		m.Browser.Headful != HeadfulPreferred {
		t.Errorf("read as %+v", m.Browser)
	}
}

func TestSetupRules(t *testing.T) {
	const capture = "setup.credential_capture"
	runBadCases(t, []badCase{
		{"no modality", edits{"setup.modality": remove}, []string{"setup.modality"}},
		{"unknown modality", edits{"setup.modality": "carrier_pigeon"}, []string{"setup.modality"}},
		{"static secret without form", edits{capture: remove}, []string{capture}},
		{"form without modality", edits{"setup.modality": "none"}, []string{capture}},
		{"no credential kind", edits{capture + ".kind": remove}, []string{capture + ".kind"}},
		{"unknown credential kind", edits{capture + ".kind": "handshake"}, []string{capture + ".kind"}},
		{"no fields", edits{capture + ".fields": remove}, []string{capture + ".fields"}},
		{"empty fields", edits{capture + ".fields": []any{}}, []string{capture + ".fields"}},
		{"field without name", edits{capture + ".fields[0].name": remove}, []string{capture + ".fields[0].name"}},
		{"field name used twice", edits{capture + ".fields[1].name": "address"}, []string{capture + ".fields[1].name"}},
		{"field without label", edits{capture + ".fields[0].label": remove}, []string{capture + ".fields[0].label"}},
		{"unknown field type", edits{capture + ".fields[0].type": "hologram"}, []string{capture + ".fields[0].type"}},
		{
			"help that is no address",
			edits{capture + ".fields[0].help_url": "settings"},
			[]string{capture + ".fields[0].help_url"},
		},
		{"field without variable", edits{capture + ".fields[0].env": []any{}}, []string{capture + ".fields[0].env"}},
		{
			"field variable in lower case",
			edits{capture + ".fields[1].env[1]": "password"},
			[]string{capture + ".fields[1].env[1]"},
		},
		{
			"field variable listed twice",
			edits{capture + ".fields[1].env[1]": "FERNPOST_APP_PASSWORD"},
			[]string{capture + ".fields[1].env[1]"},
		},
		{
			"field variable of another field",
			edits{capture + ".fields[1].env[1]": "FERNPOST_ADDRESS"},
			[]string{capture + ".fields[1].env[1]"},
		},
		{
			"field variable of the runtime",
			edits{capture + ".fields[1].env[1]": "PDPP_DATABASE_URL"},
			[]string{capture + ".fields[1].env[1]"},
		},
		{
			"deployment variable in lower case",
			edits{"setup.deployment_config[0]": "id"},
			[]string{"setup.deployment_config[0]"},
		},
		{"upload that is no object", edits{"setup.manual_or_upload": "zip"}, []string{"setup.manual_or_upload"}},
	})
}

func TestStreamRules(t *testing.T) {
	runBadCases(t, []badCase{
		{"no name", edits{"streams[0].name": remove}, []string{"streams[0].name"}},
		{"star", edits{"streams[0].name": "*"}, []string{"streams[0].name"}},
		{"upper case", edits{"streams[0].name": "Account"}, []string{"streams[0].name"}},
		{"digit first", edits{"streams[0].name": "1account"}, []string{"streams[0].name"}},
		{"too long", edits{"streams[0].name": strings.Repeat("a", 65)}, []string{"streams[0].name"}},
		{"name used twice", edits{"streams[4].name": "account"}, []string{"streams[4].name"}},
		{"no semantics", edits{"streams[0].semantics": remove}, []string{"streams[0].semantics"}},
		{"stray semantics", edits{"streams[0].semantics": "added"}, []string{"streams[0].semantics"}},
		{"no schema", edits{"streams[0].schema": remove}, []string{"streams[0].schema"}},
		{"schema is a boolean", edits{"streams[0].schema": true}, []string{"streams[0].schema"}},
		{"schema does not compile", edits{"streams[0].schema.type": "thing"}, []string{"streams[0].schema"}},
		{"schema reads a file", edits{"streams[0].schema.$ref": "file:///etc/passwd"}, []string{"streams[0].schema"}},
		{"schema of an array", edits{"streams[0].schema.type": "array"}, []string{"streams[0].schema.type"}},
		{"schema without type", edits{"streams[0].schema.type": remove}, []string{"streams[0].schema.type"}},
		{
			"type in the wrong case",
			edits{"streams[0].schema.type": remove, "streams[0].schema.Type": "object"},
			[]string{"streams[0].schema.type"},
		},
		{
			"requires an unknown field",
			edits{"streams[1].schema.required": []any{"id", "colour"}},
			[]string{"streams[1].schema.required[1]"},
		},
		{"no primary key", edits{"streams[0].primary_key": remove}, []string{"streams[0].primary_key"}},
		{"empty primary key", edits{"streams[0].primary_key": []any{}}, []string{"streams[0].primary_key"}},
		{
			"primary key is no field",
			edits{"streams[2].primary_key": []any{"letter_id", "page"}},
			[]string{"streams[2].primary_key[1]"},
		},
		{
			"primary key as a string is no field",
			edits{"streams[0].primary_key": "number"},
			[]string{"streams[0].primary_key[0]"},
		},
		{
			"primary key repeats a field",
			edits{"streams[0].primary_key": []any{"id", "id"}},
			[]string{"streams[0].primary_key[1]"},
		},
		{"primary key is a number", edits{"streams[0].primary_key": 7}, []string{"streams[0].primary_key"}},
		{"cursor is no field", edits{"streams[1].cursor_field": "moved_at"}, []string{"streams[1].cursor_field"}},
		{
			"consent time is no field",
			edits{"streams[1].consent_time_field": "moved_at"},
			[]string{"streams[1].consent_time_field"},
		},
		{
			"search is no field",
			edits{"streams[1].query.search.lexical_fields[1]": "colour"},
			[]string{"streams[1].query.search.lexical_fields[1]"},
		},
		{
			"range is no field",
			edits{"streams[1].query.range_filters.colour": []any{"lt"}},
			[]string{"streams[1].query.range_filters.colour"},
		},
		{
			"unknown comparison",
			edits{"streams[1].query.range_filters.sent_at[0]": "near"},
			[]string{"streams[1].query.range_filters.sent_at[0]"},
		},
		{
			"sum is no field",
			edits{"streams[1].query.aggregations.sum[0]": "colour"},
			[]string{"streams[1].query.aggregations.sum[0]"},
		},
		{
			"expansion without relationship",
			edits{"streams[1].query.expand[0].name": "author"},
			[]string{"streams[1].query.expand[0].name"},
		},
		{
			"resource is no field",
			edits{"streams[1].selection.resource_field": "colour"},
			[]string{"streams[1].selection.resource_field"},
		},
		{"view of no field", edits{"streams[1].views[0].fields[0]": "colour"}, []string{"streams[1].views[0].fields[0]"}},
		{
			"relationship to no stream",
			edits{"streams[1].relationships[0].stream": "parcels"},
			[]string{"streams[1].relationships[0].stream"},
		},
		{
			"expansion by no field",
			edits{"streams[1].relationships[0].foreign_key": "colour"},
			[]string{"streams[1].relationships[0].foreign_key"},
		},
		{"profile of no stream", edits{"profiles[0].streams[0].name": "parcels"}, []string{"profiles[0].streams[0].name"}},
		{"profile of no view", edits{"profiles[0].streams[0].view": "outbox"}, []string{"profiles[0].streams[0].view"}},
		{"filter is no field", edits{"streams[1].query.filter[0]": "colour"}, []string{"streams[1].query.filter[0]"}},
		{
			"search lists a field twice",
			edits{"streams[1].query.search": []any{"subject", "subject"}},
			[]string{"streams[1].query.search.lexical_fields[1]"},
		},
		{
			"availability without state",
			edits{"streams[1].availability.state": remove},
			[]string{"streams[1].availability.state"},
		},
		{"unknown availability", edits{"streams[1].availability.state": "maybe"}, []string{"streams[1].availability.state"}},
		{"unknown coverage policy", edits{"streams[1].coverage_policy": "sometimes"}, []string{"streams[1].coverage_policy"}},
		{"blank coverage policy", edits{"streams[1].coverage_policy": ""}, []string{"streams[1].coverage_policy"}},
		{"unsupported yet required", edits{"streams[4].required": true}, []string{"streams[4].required"}},
		{"unsupported, required by default", edits{"streams[4].required": remove}, []string{"streams[4].required"}},
		{"unavailable yet required", edits{"streams[1].coverage_policy": "unavailable"}, []string{"streams[1].required"}},
		{
			"unknown coverage strategy",
			edits{"streams[1].coverage_strategy": "hope"},
			[]string{"streams[1].coverage_strategy"},
		},
		{
			"unknown freshness strategy",
			edits{"streams[1].freshness_strategy": "smell"},
			[]string{"streams[1].freshness_strategy"},
		},
		{"unknown checkpoint", edits{"streams[1].checkpoint": "batch"}, []string{"streams[1].checkpoint"}},
	})
}

func TestAcceptedAbsenceMayBeRequiredWhenItCanBeCollected(t *testing.T) {
	for _, policy := range []CoveragePolicy{PolicyCollect, PolicyDeferred, PolicyInventoryOnly} {
		parse(t, edited(t, edits{"streams[1].coverage_policy": policy, "streams[1].required": true}))
	}
}

func TestManifestBuiltInGo(t *testing.T) {
	m := parse(t, example(t))
	if err := m.Validate(); err != nil {
		t.Fatalf("Validate of a parsed manifest: %v", err)
	}
	m.Streams[0].Schema = []byte(`{`)
	m.Streams[1].Schema = []byte{}
	m.Streams[2].ParentStreams = []string{}
	m.Streams[3].Schema = []byte(`true`)
	m.Capabilities.Proven = []byte(`null`)
	m.Capabilities.RefreshPolicy.MaxCooldownCycles = -1
	got := pathsOf(m.Validate().(Problems))
	want := []string{
		"capabilities.refresh_policy.max_cooldown_cycles", "capabilities.proven",
		"streams[0].schema", "streams[1].schema", "streams[2].parent_streams", "streams[3].schema",
	}
	if !slices.Equal(got, want) {
		t.Errorf("paths = %q, want %q", got, want)
	}
}

func TestManifestWithoutStreams(t *testing.T) {
	if got := len(parse(t, edited(t, edits{"streams": remove, "profiles": remove})).Streams); got != 0 {
		t.Errorf("streams = %d, want none", got)
	}
}
