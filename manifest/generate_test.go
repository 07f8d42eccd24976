package manifest

import (
	"encoding/json"
	"fmt"

	"pgregory.net/rapid"
)

// skeleton is the smallest valid manifest.
func skeleton() *Manifest {
	return &Manifest{ProtocolVersion: ProtocolVersion010, ConnectorID: "fernpost", Version: "1", DisplayName: "Fernpost"}
}

var (
	words     = rapid.StringMatching(`[A-Za-zéß"\\<&>\n ]{0,12}[A-Za-zß]`)
	names     = rapid.StringMatching(`[a-z][a-z0-9_]{0,8}`)
	variables = rapid.StringMatching(`F[A-Z0-9_]{0,8}`)
	addresses = rapid.StringMatching(`https?://[a-z]{1,8}\.example/[a-z?=&]{0,8}`)
	rawValues = rapid.SampledFrom(
		[]string{`{"a":[1,2.50,-3e9]}`, `["x",null,{"b":{}}]`, `"text é"`, `12345678901234567890`, `false`},
	)
)

// maybe draws a value or the zero value, which represents an absent key.
func maybe[T any](t *rapid.T, g *rapid.Generator[T], label string) T {
	if rapid.Bool().Draw(t, "has "+label) {
		return g.Draw(t, label)
	}
	var zero T
	return zero
}

func optional[T any](t *rapid.T, g *rapid.Generator[T], label string) *T {
	if !rapid.Bool().Draw(t, "has "+label) {
		return nil
	}
	v := g.Draw(t, label)
	return &v
}

// several draws distinct values; none is nil, as Parse leaves an absent list.
func several[T comparable](t *rapid.T, g *rapid.Generator[T], least int, label string) []T {
	list := rapid.SliceOfNDistinct(g, least, least+2, rapid.ID).Draw(t, label)
	if len(list) == 0 {
		return nil
	}
	return list
}

func rawOf(t *rapid.T, label string) json.RawMessage {
	if text := maybe(t, rawValues, label); text != "" {
		return json.RawMessage(text)
	}
	return nil
}

// validManifests draws valid manifests in the form in which Parse returns them.
var validManifests = rapid.Custom(func(t *rapid.T) *Manifest {
	m := skeleton()
	m.ConnectorKey = maybe(t, names, "connector_key")
	m.ManifestURI = maybe(t, words, "manifest_uri")
	m.Icon = maybe(t, words, "icon")
	m.Sensitivity = maybe(t, words, "sensitivity")
	for range rapid.IntRange(0, 2).Draw(t, "external_docs") {
		m.ExternalDocs = append(m.ExternalDocs, ExternalDoc{words.Draw(t, "label"), addresses.Draw(t, "url")})
	}
	m.RuntimeRequirements = optional(t, requirements, "runtime_requirements")
	m.Setup = optional(t, setups, "setup")
	m.Capabilities = optional(t, capabilities, "capabilities")
	if reason := maybe(t, words, "reason"); reason != "" {
		m.ReasonDisplayMessages = map[string]string{reason: words.Draw(t, "message")}
	}
	if m.UsesBrowser() {
		m.Browser = optional(t, browsers, "browser")
	}
	m.Runtime = maybe(t, rapid.SampledFrom(Runtimes), "runtime")
	m.Streams = streamsOf(t)
	if s := m.Streams[0]; len(s.Views) > 0 {
		m.Profiles = []Profile{{ID: words.Draw(t, "profile"), Streams: []ProfileStream{{Name: s.Name, View: s.Views[0].ID}}}}
	}
	return m
})

var browsers = rapid.Custom(func(t *rapid.T) Browser {
	return Browser{
		Hosts:   several(t, rapid.StringMatching(`[a-z]{1,8}\.example`), 1, "hosts"),
		Headful: maybe(t, rapid.SampledFrom(Headfuls), "headful"),
	}
})

var requirements = rapid.Custom(func(t *rapid.T) RuntimeRequirements {
	var rr RuntimeRequirements
	for _, b := range several(t, rapid.SampledFrom(Bindings), 0, "bindings") {
		if rr.Bindings == nil {
			rr.Bindings = map[Binding]BindingUse{}
		}
		rr.Bindings[b] = BindingUse{Required: rapid.Bool().Draw(t, "required")}
	}
	for _, name := range several(t, variables, 0, "environment_variables") {
		rr.EnvironmentVariables = append(rr.EnvironmentVariables, EnvironmentVariable{
			Name: name,
			Description: maybe(
				t,
				words,
				"description",
			),
			Required: rapid.Bool().Draw(t, "required"),
			Secret:   rapid.Bool().Draw(t, "secret"),
		})
	}
	for i, name := range several(t, variables, 0, "local_paths") {
		p := LocalPath{
			PathEnv:     name,
			Description: maybe(t, words, "description"),
			Required:    rapid.Bool().Draw(t, "required"),
			Default:     maybe(t, names, "default"),
		}
		if i > 0 {
			p.Within = rr.LocalPaths[0].PathEnv
		}
		rr.LocalPaths = append(rr.LocalPaths, p)
	}
	if name := maybe(t, words, "tool"); name != "" {
		detect := ToolDetect{Executable: words.Draw(t, "executable"), Args: several(t, words, 0, "args"),
			ExitCode: rapid.IntRange(0, 255).Draw(t, "exit_code"), ExecutableEnvOverride: maybe(t, variables, "override")}
		rr.ExternalTools = []ExternalTool{
			{
				Name:    name,
				Detect:  detect,
				Purpose: maybe(t, words, "purpose"),
				InstallHint: maybe(
					t,
					words,
					"install_hint",
				),
				License:    maybe(t, words, "license"),
				MinVersion: maybe(t, words, "min_version"),
			},
		}
	}
	return rr
})

var setups = rapid.Custom(func(t *rapid.T) Setup {
	s := Setup{
		Modality:         rapid.SampledFrom(Modalities).Draw(t, "modality"),
		DeploymentConfig: several(t, variables, 0, "deployment_config"),
	}
	if rapid.Bool().Draw(t, "has manual_or_upload") {
		s.ManualOrUpload = &FileImport{Label: "File", ImportDirEnvVar: maybe(t, variables, "import_dir_env_var")}
	}
	if s.Modality == ModalityProviderAuth && rapid.Bool().Draw(t, "has oauth") {
		s.DeploymentConfig = []string{"APP_NUMBER", "APP_SECRET"}
		s.OAuth = &OAuth{
			AuthorizeURL:    "https://example.org/a",
			TokenURL:        "https://example.org/t",
			AccessTokenEnv:  "ACCESS",
			ClientIDEnv:     "APP_NUMBER",
			ClientSecretEnv: maybe(t, rapid.Just("APP_SECRET"), "client_secret_env"),
			ClientAuth:      maybe(t, rapid.SampledFrom(ClientAuths), "client_auth"),
			Rotation:        rapid.Bool().Draw(t, "rotation"),
			Scopes: []OAuthScope{
				{Name: "read", Label: words.Draw(t, "scope"), Optional: rapid.Bool().Draw(t, "optional")},
			},
		}
	}
	if s.Modality == ModalityNone || s.Modality != ModalityStaticSecret && rapid.Bool().Draw(t, "no capture") {
		return s
	}
	s.CredentialCapture = &CredentialCapture{
		Kind: rapid.SampledFrom(CredentialKinds).Draw(t, "kind"),
		Label: maybe(
			t,
			words,
			"label",
		),
		Description: maybe(t, words, "description"),
		SubmitLabel: maybe(t, words, "submit_label"),
	}
	for i, name := range several(t, names, 1, "fields") {
		s.CredentialCapture.Fields = append(s.CredentialCapture.Fields, CredentialField{
			Name: name, Label: words.Draw(t, "label"), Type: maybe(t, rapid.SampledFrom(FieldTypes), "type"),
			Required: rapid.Bool().Draw(t, "required"), Secret: rapid.Bool().Draw(t, "secret"),
			Autocomplete: maybe(t, words, "autocomplete"), Placeholder: maybe(t, words, "placeholder"),
			HelpText: maybe(t, words, "help_text"), HelpURL: maybe(t, addresses, "help_url"),
			Env: []string{fmt.Sprintf("FIELD_%d", i)},
		})
	}
	return s
})

var capabilities = rapid.Custom(func(t *rapid.T) Capabilities {
	c := Capabilities{
		HumanInteraction: several(t, rapid.SampledFrom(HumanInteractions), 0, "human_interaction"),
		RefreshPolicy:    optional(t, policies, "refresh_policy"),
		Proven:           rawOf(t, "proven"), RecordIdentity: rawOf(t, "record_identity"),
		BrowserSurfaceKind: maybe(t, words, "browser_surface_kind"),
	}
	if rapid.Bool().Draw(t, "has auth") {
		c.Auth = &Auth{
			Kind:     maybe(t, words, "kind"),
			Required: several(t, variables, 0, "required"),
			TokenURL: maybe(t, addresses, "token_url"),
		}
	}
	if rapid.Bool().Draw(t, "has public_listing") {
		c.PublicListing = &PublicListing{Tier: maybe(t, words, "tier")}
	}
	return c
})

var policies = rapid.Custom(func(t *rapid.T) RefreshPolicy {
	least := rapid.IntRange(0, 1000).Draw(t, "minimum_interval_seconds")
	p := RefreshPolicy{
		RecommendedMode:            rapid.SampledFrom(RefreshModes).Draw(t, "recommended_mode"),
		Rationale:                  words.Draw(t, "rationale"),
		RecommendedIntervalSeconds: maybe(t, rapid.IntRange(max(least, 1), 5000), "recommended_interval_seconds"),
		MinimumIntervalSeconds:     least,
		MaximumStalenessSeconds:    rapid.IntRange(0, 5000).Draw(t, "maximum_staleness_seconds"),
		SessionLifetimeSeconds:     rapid.IntRange(0, 5000).Draw(t, "session_lifetime_seconds"),
		InteractionPosture:         maybe(t, rapid.SampledFrom(InteractionPostures), "interaction_posture"),
		RateLimitSensitivity:       maybe(t, rapid.SampledFrom(Sensitivities), "rate_limit_sensitivity"),
		BotDetectionSensitivity:    maybe(t, rapid.SampledFrom(Sensitivities), "bot_detection_sensitivity"),
		BackgroundSafe:             optional(t, rapid.Bool(), "background_safe"),
		AssistedAfterOwnerAuth:     rapid.Bool().Draw(t, "assisted_after_owner_auth"),
		MaxCooldownCycles:          rapid.IntRange(0, 24).Draw(t, "max_cooldown_cycles"),
		MaxRecoveryAttempts:        rapid.IntRange(0, 20).Draw(t, "max_recovery_attempts"),
	}
	if p.InteractionPosture == PostureOTPLikely || p.InteractionPosture == PostureManualActionLikely {
		p.AssistedAfterOwnerAuth = p.AssistedAfterOwnerAuth || p.RecommendedMode == RefreshAutomatic
	}
	return p
})

func streamsOf(t *rapid.T) []Stream {
	graph, _ := acyclic(t, rapid.IntRange(1, 4).Draw(t, "streams"))
	streams := dependent(t, graph)
	for i := range streams {
		s := &streams[i]
		fields := several(t, names, 1, "properties")
		s.Schema = schemaWith(fields)
		s.PrimaryKey = PrimaryKey{rapid.SampledFrom(fields).Draw(t, "primary_key")}
		s.Description = maybe(t, words, "description")
		s.Semantics = rapid.SampledFrom(AllSemantics).Draw(t, "semantics")
		s.CursorField = maybe(t, rapid.SampledFrom(fields), "cursor_field")
		s.ConsentTimeField = maybe(t, rapid.SampledFrom(fields), "consent_time_field")
		s.Incremental = rapid.Bool().Draw(t, "incremental")
		if rapid.Bool().Draw(t, "has views") {
			s.Views = []View{{ID: words.Draw(t, "view"), Fields: fields[:1]}}
			s.Relationships = []Relationship{
				{
					Name:        words.Draw(t, "relationship"),
					Stream:      s.Name,
					Cardinality: maybe(t, rapid.SampledFrom(Cardinalities), "cardinality"),
				},
			}
		}
		s.Required = optional(t, rapid.Bool(), "required")
		if !s.IsRequired() {
			s.CoveragePolicy = maybe(t, rapid.SampledFrom(CoveragePolicies), "coverage_policy")
		}
		if len(graph[i]) == 0 {
			s.CoverageStrategy = maybe(t, rapid.SampledFrom(CoverageStrategies), "coverage_strategy")
		}
		s.FreshnessStrategy = maybe(t, rapid.SampledFrom(FreshnessStrategies), "freshness_strategy")
		s.Checkpoint = maybe(t, rapid.SampledFrom(Checkpoints), "checkpoint")
		if rapid.Bool().Draw(t, "has objects") {
			s.Display = &Display{
				Label:  maybe(t, words, "label"),
				Detail: maybe(t, words, "detail"),
				Kind:   maybe(t, rapid.SampledFrom([]DisplayKind{KindDocument, "sculpture"}), "kind"),
				Unit:   maybe(t, words, "unit"),
				Scale:  maybe(t, rapid.IntRange(1, 1000), "scale"),
			}
			if rapid.Bool().Draw(t, "has roles") {
				s.Display.Roles = &DisplayRoles{
					Title: rapid.SampledFrom(fields).Draw(t, "title"),
					Time:  maybe(t, rapid.SampledFrom(fields), "time"),
				}
			}
			s.Selection = &Selection{Fields: rapid.Bool().Draw(t, "fields"), Resources: rapid.Bool().Draw(t, "resources")}
			s.Query = &Query{
				Search: &Search{LexicalFields: fields},
				Filter: maybe(t, rapid.Just(fields), "filter"),
				RangeFilters: map[string][]RangeOperator{
					fields[0]: RangeOperators,
				},
				Aggregations: &Aggregations{Count: true, Sum: fields},
			}
			s.Availability = &Availability{State: rapid.SampledFrom(AvailabilityStates).Draw(t, "state"),
				Mode: maybe(t, words, "mode"), Reason: maybe(t, words, "reason"), FutureModes: several(t, words, 0, "future_modes")}
		}
	}
	return streams
}

func schemaWith(fields []string) json.RawMessage {
	properties := map[string]any{}
	for _, f := range fields {
		properties[f] = true
	}
	schema, _ := json.Marshal(map[string]any{"type": "object", "properties": properties, "required": fields[:1]})
	return schema
}
