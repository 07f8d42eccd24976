package manifest

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write docs/extend/manifest.schema.json")

func TestSchemaFile(t *testing.T) {
	const name = "../docs/extend/manifest.schema.json"
	if *update {
		if err := os.WriteFile(name, JSONSchema(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b, JSONSchema()) {
		t.Errorf("%s is out of date: run go generate ./manifest", name)
	}
}

func manifestSchema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	s, err := compileSchema(JSONSchema())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t testing.TB, s *jsonschema.Schema, doc []byte) error {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(v)
}

func TestSchemaAcceptsWhatParseAccepts(t *testing.T) {
	s := manifestSchema(t)
	if err := validate(t, s, example(t)); err != nil {
		t.Errorf("the example: %v", err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		text, err := validManifests.Draw(rt, "manifest").JSON()
		if err != nil {
			rt.Fatal(err)
		}
		if err := validate(t, s, text); err != nil {
			rt.Fatalf("%s\n%v", text, err)
		}
	})
}

// Both the published schema and the parser hold a stream to the closed list.
func TestCoveragePolicyValuesAreAccepted(t *testing.T) {
	t.Attr("spec", "RT-11.1")
	s := manifestSchema(t)
	for _, policy := range []string{"collect", "deferred", "inventory_only", "unavailable", "unsupported"} {
		doc := edited(t, edits{"streams[1].coverage_policy": policy, "streams[1].required": false})
		if err := validate(t, s, doc); err != nil {
			t.Errorf("the schema refuses %s: %v", policy, err)
		}
		if got := parse(t, doc).Streams[1].Policy(); string(got) != policy {
			t.Errorf("policy = %s, want %s", got, policy)
		}
	}
}

func TestUnknownCoveragePolicyIsRefused(t *testing.T) {
	t.Attr("spec", "RT-11.2")
	s := manifestSchema(t)
	for _, policy := range []any{"sometimes", "Collect", "", 1, nil, []any{"collect"}} {
		doc := edited(t, edits{"streams[1].coverage_policy": policy})
		if err := validate(t, s, doc); err == nil {
			t.Errorf("the schema accepts %v", policy)
		}
		if got := pathsOf(problemsOf(t, doc)); !slices.Equal(got, []string{"streams[1].coverage_policy"}) {
			t.Errorf("%v: problems at %v", policy, got)
		}
	}
}

func TestAbsentCoveragePolicyMeansCollect(t *testing.T) {
	t.Attr("spec", "RT-11.3")
	doc := edited(t, edits{"streams[1].coverage_policy": remove})
	if err := validate(t, manifestSchema(t), doc); err != nil {
		t.Errorf("the schema refuses an absent policy: %v", err)
	}
	if got := parse(t, doc).Streams[1].Policy(); got != PolicyCollect {
		t.Errorf("policy = %s, want collect", got)
	}
}

func TestSchemaRefusesWhatConcernsOneKey(t *testing.T) {
	s := manifestSchema(t)
	for _, change := range []edits{
		{"protocol_version": "9.0.0"}, {"version": remove}, {"display_name": " "}, {"icon": nil},
		{"connector_key": "fern post"}, {"runtime_requirements.bindings.telepathy": map[string]any{}},
		{"runtime_requirements.environment_variables[0]": "region"},
		{"runtime_requirements.local_paths": map[string]any{"home_env_override": "home"}},
		{"streams[1].query.search": []any{"subject", "subject"}}, {"streams[1].query.range_filters.sent_at[0]": "near"},
		{"setup.modality": "none yet"},
		{"setup.credential_capture.fields[0].env[0]": "address"}, {"setup.manual_or_upload": "zip"},
		{policyPath + ".rationale": remove}, {policyPath + ".max_cooldown_cycles": 25}, {policyPath + ".jitter": 1},
		{"capabilities.proven": nil}, {"streams[0].name": "*"}, {"streams[0].semantics": "added"},
		{"streams[0].schema": true},
		{"streams[0].primary_key": []any{}}, {"streams[0].primary_key": []any{"id", "id"}}, {"streams[0].primary_key": ""},
		{"streams[2].parent_streams": []any{}}, {"streams[1].checkpoint": "batch"},
	} {
		doc := edited(t, change)
		problemsOf(t, doc)
		if err := validate(t, s, doc); err == nil {
			t.Errorf("the schema accepts %v", change)
		}
	}
}

// Every key of the contract exists under its exact name, and every key that
// exists is explained and used by the example.
func TestKeys(t *testing.T) {
	var schema struct {
		Defs map[string]struct {
			Properties map[string]struct{ Description string }
		} `json:"$defs"`
	}
	if err := json.Unmarshal(JSONSchema(), &schema); err != nil {
		t.Fatal(err)
	}
	for object, keys := range map[string]string{
		"Manifest": "protocol_version connector_id connector_key manifest_uri version display_name runtime_requirements " +
			"capabilities " +
			"setup streams profiles reason_display_messages external_docs sensitivity icon runtime browser",
		"Browser":             "hosts headful",
		"RuntimeRequirements": "bindings external_tools environment_variables local_paths",
		"BindingUse":          "required",
		"ExternalTool":        "name purpose detect install_hint license min_version",
		"ToolDetect":          "executable args exit_code executable_env_override",
		"EnvironmentVariable": "name description required secret",
		"LocalPath":           "path_env description required default within",
		"Capabilities": "human_interaction refresh_policy public_listing proven auth browser_surface_kind " +
			"record_identity",
		"PublicListing": "tier rationale proof_gate",
		"RefreshPolicy": "recommended_mode rationale recommended_interval_seconds minimum_interval_seconds " +
			"maximum_staleness_seconds " +
			"interaction_posture session_lifetime_seconds rate_limit_sensitivity bot_detection_sensitivity background_safe " +
			"assisted_after_owner_auth max_cooldown_cycles max_recovery_attempts",
		"Stream": "name description display semantics schema primary_key cursor_field consent_time_field incremental " +
			"selection query views " +
			"relationships required coverage_policy availability coverage_strategy freshness_strategy state_stream " +
			"parent_streams checkpoint as_told " +
			"compaction_class compaction_class_note compaction_fingerprint",
		"Selection":    "fields resources resource_field",
		"Query":        "search filter range_filters aggregations expand",
		"Search":       "lexical_fields semantic_fields",
		"Aggregations": "count count_distinct group_by group_by_time sum min max",
		"Availability": "state mode reason future_modes",
		"Setup":        "modality steps first_run out_of_reach credential_capture deployment_config manual_or_upload oauth",
		"OAuth": "authorize_url token_url device_url scopes scope_separator authorize_params pkce rotation " +
			"token_lifetime_seconds access_token_env " +
			"client_id_env client_secret_env client_auth client_id_for_connector token_params " +
			"token_member register_url register_steps never_asked provider_sees",
		"OAuthScope":        "name label note optional",
		"CredentialCapture": "kind label description submit_label required fields",
		"CredentialField":   "name identity label type required secret autocomplete placeholder env help_text help_url",
	} {
		properties := schema.Defs[object].Properties
		for key := range strings.FieldsSeq(keys) {
			if properties[key].Description == "" {
				t.Errorf("%s.%s is missing or not explained", object, key)
			}
			delete(properties, key)
		}
		for key := range properties {
			t.Errorf("%s.%s is not in the contract", object, key)
		}
	}
	used := map[string]bool{}
	markUsed(used, reflect.ValueOf(parse(t, example(t))))
	markUsed(
		used,
		reflect.ValueOf(homePaths{"FERNPOST_HOME", ".fernpost", []homedPath{{"FERNPOST_BOX", "box", "Letter box", true}}}),
	)
	markUsed(used, reflect.ValueOf(parse(t, []byte(signing))))
	for object, definition := range schema.Defs {
		for key := range definition.Properties {
			if !used[object+"."+key] {
				t.Errorf("the example does not use %s.%s", object, key)
			}
		}
	}
}

func markUsed(used map[string]bool, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			markUsed(used, v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			markUsed(used, v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			markUsed(used, v.MapIndex(key))
		}
	case reflect.Struct:
		for _, f := range fieldsOf(v.Type()) {
			if !v.Field(f.index).IsZero() {
				used[v.Type().Name()+"."+f.name] = true
				markUsed(used, v.Field(f.index))
			}
		}
	}
}
