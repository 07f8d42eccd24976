// Package declaration is what connectors declare of themselves, told in the owner's
// words. It computes from the manifest that it is given and nothing else.
package declaration

import (
	"cmp"
	"net/url"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/manifest"
)

// Describe tells a connector's declaration in the owner's words.
func Describe(name string, m *manifest.Manifest) api.Connector {
	c := api.Connector{
		ID: name, DisplayName: m.DisplayName, Version: m.Version, Streams: []api.StreamLabel{},
		Form: shownForm(m), Refresh: refreshPolicy(m.RefreshPolicy()), Device: OnDevice(m), OnDevices: ReadsFiles(m), SignsIn: SignsIn(m),
		Consent: consent(m.OAuth()), Files: takes(m),
	}
	if s := m.Setup; s != nil {
		c.Steps, c.FirstRun, c.OutOfReach = s.Steps, s.FirstRun, s.OutOfReach
	}
	for i := range m.Streams {
		c.Streams = append(c.Streams, streamLabel(&m.Streams[i]))
	}
	for _, p := range m.Profiles {
		label := api.ProfileLabel{ID: p.ID, Label: cmp.Or(p.Label, text.Name(p.ID))}
		for _, s := range p.Streams {
			label.Streams = append(label.Streams, api.ProfileStream{Stream: s.Name, View: s.View})
		}
		c.Profiles = append(c.Profiles, label)
	}
	return c
}

// OnDevice reports whether the connector needs the files of one of the owner's devices.
func OnDevice(m *manifest.Manifest) bool {
	return slices.Contains(m.RequiredBindings(), manifest.BindingLocalDevice)
}

// SignsIn reports whether the owner signs in in a browser here.
func SignsIn(m *manifest.Manifest) bool {
	return m.Setup != nil && m.Setup.Modality == manifest.ModalityBrowserSession
}

// ReadsFiles reports whether the connector reads files, so that a device can collect it.
func ReadsFiles(m *manifest.Manifest) bool {
	return OnDevice(m) || slices.Contains(m.RequiredBindings(), manifest.BindingFilesystem)
}

// LargestFile is how many bytes a file may have that the owner gives, unless its connector
// takes less.
const LargestFile = 20 << 30

// takes tells which files the owner may give; nil for a connector that takes none.
func takes(m *manifest.Manifest) *api.FileImport {
	if m.ImportVariable() == "" || OnDevice(m) {
		return nil
	}
	files := m.Setup.ManualOrUpload
	f := &api.FileImport{Label: cmp.Or(files.Label, "Files of "+m.DisplayName), Description: files.Description, Help: files.HelpText,
		Extensions: append([]string{}, files.AcceptedFileExtensions...), Wanted: files.Wanted(), MaxBytes: LargestFile}
	if v := files.Validation; v != nil && v.MaxFileBytes > 0 {
		f.MaxBytes = min(f.MaxBytes, int64(v.MaxFileBytes))
	}
	return f
}

// consent tells how the owner signs in at the provider.
func consent(o *manifest.OAuth) *api.Consent {
	if o == nil {
		return nil
	}
	c := &api.Consent{Scopes: []api.ConsentScope{}, Page: o.AuthorizeURL != "", Codes: o.DeviceURL != "", NeverAsked: o.NeverAsked, ProviderSees: o.ProviderSees,
		RegisterURL: o.RegisterURL, RegisterSteps: o.RegisterSteps, Secret: o.ClientSecretEnv != ""}
	if u, err := url.Parse(o.AuthorizeURL); err == nil {
		c.Host = u.Host
	}
	for _, s := range o.Scopes {
		c.Scopes = append(c.Scopes, api.ConsentScope{Name: s.Name, Label: s.Label, Note: s.Note, Optional: s.Optional})
	}
	return c
}

func streamLabel(s *manifest.Stream) api.StreamLabel {
	out := api.StreamLabel{
		Name: s.Name, Label: Label(s, s.Name), Description: s.Description, Fields: Fields(jsontext.Value(s.Schema)),
		Search: []string{}, Filter: []string{}, TimeField: s.ConsentTimeField, ResourceField: s.ResourceField(),
	}
	for _, v := range s.Views {
		out.Views = append(out.Views, api.ViewLabel{ID: v.ID, Label: cmp.Or(v.Label, text.Name(v.ID)), Fields: v.Fields})
	}
	if s.Display != nil && s.Display.Detail != "" {
		out.Description = s.Display.Detail
	}
	if s.Query != nil {
		out.Search, out.Filter = append(out.Search, s.SearchFields()...), append(out.Filter, s.Query.Filter...)
	}
	return out
}

func refreshPolicy(p *manifest.RefreshPolicy) api.RefreshPolicy {
	if p == nil {
		return api.RefreshPolicy{}
	}
	mode := p.RecommendedMode
	if mode == manifest.RefreshAutomatic && p.ManualOnly() {
		mode = manifest.RefreshManual // it does not let a run start without the owner
	}
	return api.RefreshPolicy{
		Mode: string(mode), Rationale: p.Rationale, RecommendedSeconds: int64(p.RecommendedIntervalSeconds),
		MinimumSeconds: int64(p.MinimumIntervalSeconds), StaleSeconds: int64(p.MaximumStalenessSeconds),
	}
}
