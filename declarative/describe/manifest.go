package describe

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/manifest"
)

// manifest generates the connector manifest. Additions of metadata.pdpp replace what is generated: its member manifest
// has the form of a manifest, and its member streams has streams of a manifest by the name in the document.
func (d *Description) manifest(o Options) (*manifest.Manifest, error) {
	name := o.Name
	additions := d.Document.Metadata.Member("pdpp")
	if name == "" {
		name = additions.Member("display_name").String()
	}
	if name == "" {
		name = o.Key
	}
	version := d.Document.Version
	if version == "" {
		version = "1.0.0"
	}
	m := &manifest.Manifest{
		ProtocolVersion: manifest.ProtocolVersion010,
		ConnectorID:     o.Key,
		ConnectorKey:    o.Key,
		Version:         version,
		DisplayName:     name,
		RuntimeRequirements: &manifest.RuntimeRequirements{Bindings: map[manifest.Binding]manifest.BindingUse{
			manifest.BindingNetwork: {Required: true}}},
		Setup: d.setup(name),
		Capabilities: &manifest.Capabilities{RefreshPolicy: &manifest.RefreshPolicy{
			RecommendedMode:            manifest.RefreshAutomatic,
			Rationale:                  "A run needs nothing from you and continues where the last one stopped.",
			RecommendedIntervalSeconds: 6 * 3600,
			MaximumStalenessSeconds:    24 * 3600,
			InteractionPosture:         manifest.PostureNone,
		}},
	}
	if doc := d.Document.Spec; doc != nil && strings.HasPrefix(doc.Documentation, "https://") {
		m.ExternalDocs = []manifest.ExternalDoc{{Label: "Set-up notes of the source file", URL: doc.Documentation}}
	}
	typed := additions.Member("typed").IsTrue()
	for _, s := range d.Streams {
		m.Streams = append(m.Streams, s.manifest(typed))
	}
	for _, s := range d.Disabled {
		m.Streams = append(m.Streams, s.manifest())
	}
	return d.withAdditions(m, additions)
}

// setup returns the form that asks for the settings.
func (d *Description) setup(name string) *manifest.Setup {
	setup := &manifest.Setup{Modality: manifest.ModalityNone}
	for _, s := range d.Disabled {
		setup.OutOfReach = append(setup.OutOfReach, fmt.Sprintf("%s: it %s", s.Name, s.Reason))
	}
	if o := d.ServerSignIn; o != nil {
		setup.Modality, setup.OAuth = manifest.ModalityProviderAuth, o
		setup.DeploymentConfig = []string{o.ClientIDEnv, o.ClientSecretEnv}
		return setup
	}
	var fields []manifest.CredentialField
	seen := map[string]bool{}
	choices := Choices(d.Settings)
	for _, s := range d.Settings {
		if seen[s.Env] {
			continue
		}
		if s.Constant != "" {
			i := slices.IndexFunc(choices, func(c Choice) bool { return c.Env == s.Env && len(c.Options) > 1 })
			if i < 0 {
				continue
			}
			s = choices[i].field()
		}
		seen[s.Env] = true
		field := manifest.CredentialField{Name: strings.Join(s.Path, "_"), Label: s.Label, Type: s.fieldType(),
			Required: s.Required && s.Choice == "" && s.Default == nil, Secret: s.Secret, HelpText: s.help(),
			Env: []string{s.Env}}
		if len(s.Examples) > 0 && !s.Secret {
			field.Placeholder = s.Examples[0]
		}
		fields = append(fields, field)
	}
	if len(fields) == 0 {
		return setup
	}
	setup.Steps = d.signInSteps()
	setup.Modality = manifest.ModalityStaticSecret
	required := slices.ContainsFunc(fields, func(f manifest.CredentialField) bool { return f.Required || f.Secret })
	setup.CredentialCapture = &manifest.CredentialCapture{Kind: manifest.CredentialSecretBundle,
		Label: "Connect " + name, Required: &required, Fields: fields}
	return setup
}

// signInSteps returns what the owner does for a file that needs the tokens of an app. The connector exchanges them
// itself, so that nothing but the first refresh token is asked for.
func (d *Description) signInSteps() []string {
	var refreshes bool
	for _, s := range d.Streams {
		eachAuthenticator(s.Document, func(c document.Component) {
			if a, ok := c.(*document.OAuth); ok && RefreshTokenPath(a) != nil {
				refreshes = true
			}
		})
	}
	if !refreshes {
		return nil
	}
	register := "Register an app of your own at the provider."
	if page := consentHost(d.Document); page != "" {
		register = "Register an app of your own at the provider. Its sign-in page is at " + page + "."
	}
	return []string{register, "Sign in with that app, and let it issue a refresh token.",
		"Enter the number and the secret of the app and the refresh token below. Tokens are renewed from then on."}
}

// consentHost returns the host of the sign-in page that a file describes, or "".
func consentHost(doc *document.Document) string {
	if doc.Spec == nil || doc.Spec.AdvancedAuth == nil {
		return ""
	}
	page := doc.Spec.AdvancedAuth.Specification.Member("oauth_connector_input_specification").Member("consent_url")
	if host := authorityOf(page.String()); host != "" && plainHost.MatchString(host) {
		return host
	}
	return ""
}

func (s Setting) fieldType() manifest.FieldType {
	switch {
	case s.Secret:
		return manifest.FieldPassword
	case s.Type == "integer" || s.Type == "number":
		return manifest.FieldNumber
	case s.Type == "array" || s.Type == "object":
		return manifest.FieldTextarea
	}
	return manifest.FieldText
}

// help returns what the owner needs to know about a setting.
func (s Setting) help() string {
	parts := []string{strings.TrimSpace(s.Help)}
	if len(s.Options) > 0 {
		parts = append(parts, "One of: "+strings.Join(s.Options, ", ")+".")
	}
	if s.Default.String() != "" && !s.Secret {
		parts = append(parts, "Left empty: "+s.Default.String()+".")
	}
	if s.Choice != "" {
		parts = append(parts, "For: "+s.Choice+".")
	}
	return strings.TrimSpace(strings.Join(parts, " "))
}

func (s Stream) manifest(typed bool) manifest.Stream {
	out := manifest.Stream{
		Name:              s.ID,
		Description:       s.description(),
		Display:           &manifest.Display{Label: s.Name},
		Semantics:         manifest.MutableState,
		PrimaryKey:        s.Key,
		Incremental:       s.Incremental,
		Checkpoint:        manifest.CheckpointSlice,
		CoverageStrategy:  manifest.StrategyFullInventory,
		FreshnessStrategy: manifest.FreshnessScheduledWindow,
	}
	cursor := s.Document.IncrementalSync
	if s.Incremental || s.Keyless || cursor != nil && (cursor.ClientSide || cursor.DataFeed) {
		out.CoverageStrategy = manifest.StrategyCheckpointWindow
	}
	if s.Keyless {
		out.Semantics = manifest.AppendOnly
	}
	properties := openProperties(schemaOf(s.Document), typed)
	for _, name := range s.Key {
		if properties[name] == nil {
			properties[name] = map[string]any{}
		}
	}
	if cursor != nil && cursor.CursorField.IsFixed() {
		if name := cursor.CursorField.Source(); properties[name] != nil {
			out.CursorField = name
		}
	}
	out.Schema, _ = json.Marshal(map[string]any{"type": "object", "properties": properties})
	return out
}

func (s Stream) description() string {
	text := "Records of " + s.Name + "."
	switch {
	case s.Keyless:
		text += " They have no key, so a record that changed appears as a new one."
	case s.GuessedKey:
		text += " The file names no key; the member id is used. A record without an id gets one from its content."
	default:
		text += " A record without a value for its key gets one from its content, which " + DigestField + " holds."
	}
	if s.ReadsAll {
		text += " Every run reads all of them."
	}
	return text
}

func (s Disabled) manifest() manifest.Stream {
	no := false
	return manifest.Stream{
		Name:           s.ID,
		Description:    "Records of " + s.Name + ", which are not collected.",
		Display:        &manifest.Display{Label: s.Name},
		Semantics:      manifest.AppendOnly,
		PrimaryKey:     []string{DigestField},
		Schema:         json.RawMessage(`{"type":"object","properties":{"` + DigestField + `":{}}}`),
		Required:       &no,
		CoveragePolicy: manifest.PolicyUnsupported,
		Availability: &manifest.Availability{State: manifest.AvailabilityUnsupportedInMode,
			Reason: "The source file " + s.Reason + "."},
	}
}

// openProperties returns the properties of a schema without constraints, because declared types are often wrong and no
// record should be rejected for that. With typed, types stay and may be null.
func openProperties(schema *document.Node, typed bool) map[string]any {
	out := map[string]any{}
	properties := schema.Member("properties")
	if properties == nil {
		return out
	}
	for i, name := range properties.Names {
		p := properties.Items[i]
		kept := map[string]any{}
		for _, word := range []string{"title", "description", "format"} {
			if text := p.Member(word).String(); text != "" {
				kept[word] = text
			}
		}
		types := texts(p.Member("type"))
		switch {
		case typed && len(types) > 0:
			if !slices.Contains(types, "null") {
				types = append(types, "null")
			}
			kept["type"] = types
		case len(types) > 0:
			kept["$comment"] = "The file declares the type " + strings.Join(types, " or ") + "."
		}
		out[name] = kept
	}
	return out
}

// withAdditions merges metadata.pdpp into the manifest and validates it.
func (d *Description) withAdditions(m *manifest.Manifest, additions *document.Node) (*manifest.Manifest, error) {
	raw, err := m.JSON()
	if err != nil {
		return nil, err
	}
	var tree map[string]any
	if err := json.Unmarshal(raw, &tree); err != nil {
		return nil, err
	}
	merge(tree, additions.Member("manifest"))
	if streams := additions.Member("streams"); streams != nil && streams.Kind == document.Map {
		for i, name := range streams.Names {
			target := d.streamTree(tree, name)
			if target == nil {
				return nil, document.Problems{{Level: document.WholeFile, Path: "metadata.pdpp.streams." + name,
					Message: "is not a stream of this file", Fix: "Correct the name, or remove it."}}
			}
			merge(target, streams.Items[i])
		}
	}
	if raw, err = json.Marshal(tree); err != nil {
		return nil, err
	}
	made, err := manifest.Parse(raw)
	if err == nil {
		err = d.checkSignIn(made)
	}
	return made, err
}

// streamTree returns the stream of a manifest that has the name in the document.
func (d *Description) streamTree(tree map[string]any, name string) map[string]any {
	id := ""
	for _, s := range d.Streams {
		if s.Name == name {
			id = s.ID
		}
	}
	for _, s := range d.Disabled {
		if s.Name == name {
			id = s.ID
		}
	}
	streams, _ := tree["streams"].([]any)
	for _, s := range streams {
		if stream, ok := s.(map[string]any); ok && id != "" && stream["name"] == id {
			return stream
		}
	}
	return nil
}

// merge puts the members of n into a tree. Objects are merged, everything else is replaced.
func merge(tree map[string]any, n *document.Node) {
	if n == nil || n.Kind != document.Map {
		return
	}
	for i, name := range n.Names {
		if inner, ok := tree[name].(map[string]any); ok && n.Items[i].Kind == document.Map {
			merge(inner, n.Items[i])
			continue
		}
		tree[name] = json.RawMessage(n.Items[i].AppendJSON(nil))
	}
}
