package foreign

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/manifest"
)

// describeManifest returns the manifest of a wrapped program, and sets the streams of its adapter.
func describeManifest(o Order, a *Adapter, offers []streamOffer, settings []configSetting) *manifest.Manifest {
	m := &manifest.Manifest{
		ProtocolVersion: manifest.ProtocolVersion010,
		ConnectorID:     o.Name,
		ConnectorKey:    o.Name,
		Version:         "1.0.0",
		DisplayName:     o.Name,
		RuntimeRequirements: &manifest.RuntimeRequirements{
			Bindings: map[manifest.Binding]manifest.BindingUse{
				manifest.BindingNetwork:     {Required: true},
				manifest.BindingInteractive: {},
			},
		},
		Setup: &manifest.Setup{Modality: manifest.ModalityNone},
		Capabilities: &manifest.Capabilities{RefreshPolicy: &manifest.RefreshPolicy{
			RecommendedMode:            manifest.RefreshAutomatic,
			Rationale:                  "The program signs in by itself and goes on from where it stopped.",
			RecommendedIntervalSeconds: 6 * 3600,
			MaximumStalenessSeconds:    24 * 3600,
			InteractionPosture:         manifest.PostureNone,
		}},
	}
	describeSettings(m, settings)
	names := map[string]bool{}
	for _, offer := range offers {
		s := Stream{Name: manifest.StreamName(offer.name, names), Called: offer.called, Entry: offer.entry}
		m.Streams = append(m.Streams, offer.stream(&s))
		a.Streams = append(a.Streams, s)
	}
	return m
}

// describeSettings puts secrets into a form for the owner, and everything else into variables.
func describeSettings(m *manifest.Manifest, settings []configSetting) {
	prefix := m.EnvPrefix()
	var fields []manifest.CredentialField
	variables := []manifest.EnvironmentVariable{
		{
			Name:        prefix + roundVariable,
			Description: "Most milliseconds between two checkpoints of the whole program. Unset: 10000.",
		},
		{Name: prefix + hostsVariable, Description: "Further hosts that the program may reach, separated by commas."},
	}
	for _, s := range settings {
		label := s.label
		if label == "" {
			label = strings.Join(s.path, " ")
		}
		if s.secret {
			fields = append(fields, manifest.CredentialField{
				Name: strings.Join(
					s.path,
					"_",
				),
				Label:    label,
				Required: s.needed,
				Secret:   true,
				HelpText: s.help,
				Env:      []string{s.env(prefix)},
			})
			continue
		}
		text := s.help
		if text == "" {
			text = label
		}
		variables = append(
			variables,
			manifest.EnvironmentVariable{Name: s.env(prefix), Description: text, Required: s.needed && s.given == nil},
		)
	}
	m.RuntimeRequirements.EnvironmentVariables = variables
	if len(fields) == 0 {
		return
	}
	m.Setup.Modality = manifest.ModalityStaticSecret
	m.Setup.CredentialCapture = &manifest.CredentialCapture{
		Kind:   manifest.CredentialSecretBundle,
		Label:  "Connect " + m.DisplayName,
		Fields: fields,
	}
}

const completeStatement = "Complete " + manifest.ReportedByConnector + "."

func (o streamOffer) stream(s *Stream) manifest.Stream {
	properties := descriptiveSchema(o.schema)
	key := slices.DeleteFunc(
		slices.Clone(o.key),
		func(name string) bool { return properties[name] == nil && len(properties) > 0 },
	)
	out := manifest.Stream{
		Name:              s.Name,
		Description:       o.name + ". " + completeStatement,
		Display:           &manifest.Display{Detail: completeStatement},
		Semantics:         manifest.MutableState,
		PrimaryKey:        key,
		Checkpoint:        manifest.CheckpointSlice,
		Incremental:       o.recurrent,
		CoverageStrategy:  manifest.StrategyCheckpointWindow,
		FreshnessStrategy: manifest.FreshnessScheduledWindow,
	}
	if len(key) == 0 || len(key) != len(o.key) {
		s.Keyless = true
		out.Semantics, out.PrimaryKey = manifest.AppendOnly, []string{DigestField}
		out.Description += " The program names no key, so that equal rows are one record, and a row that changed is another."
		properties[DigestField] = map[string]any{"type": "string", "description": "Digest of the record, which is its key."}
	}
	if p, ok := properties[o.cursor].(map[string]any); ok {
		out.CursorField = o.cursor
		if p["format"] == "date-time" || p["format"] == "date" {
			out.ConsentTimeField = o.cursor
		}
	}
	for _, name := range out.PrimaryKey {
		if properties[name] == nil {
			properties[name] = map[string]any{}
		}
	}
	out.Schema = []byte(encodeJSON(map[string]any{"type": "object", "properties": properties}))
	return out
}

// descriptiveSchema returns the descriptive parts of a schema, without constraints: schemas of taps are often
// wrong, and no record should be rejected for that.
func descriptiveSchema(schema jsontext.Value) map[string]any {
	var s struct {
		Properties map[string]map[string]any `json:"properties"`
	}
	_ = json.Unmarshal(schema, &s) // without properties there is nothing to describe
	out := map[string]any{}
	for name, p := range s.Properties {
		kept := map[string]any{}
		for _, word := range []string{"title", "description", "format"} {
			if text, ok := p[word].(string); ok {
				kept[word] = text
			}
		}
		if t := p["type"]; t != nil {
			kept["$comment"] = "The program declares the type " + string(encodeJSON(t)) + "."
		}
		out[name] = kept
	}
	return out
}
