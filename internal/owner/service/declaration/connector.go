// Package declaration describes connectors' declarations in the owner's words. It uses only the manifest that the
// caller passes.
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

// DescribeConnector describes a connector's manifest in the owner's words.
func DescribeConnector(name string, m *manifest.Manifest) api.Connector {
	c := api.Connector{
		ID: name, DisplayName: m.DisplayName, Version: m.Version, Streams: []api.StreamLabel{},
		Form: shownForm(m), Refresh: refreshPolicy(m.RefreshPolicy()), Device: CollectsOnDevice(m), OnDevices: ReadsFiles(m),
		SignsIn: SignsInByOAuth(m),
		Consent: consentRequests(m.OAuth()), Files: fileImportOf(m),
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

// CollectsOnDevice reports whether the connector needs the files of one of the owner's devices.
func CollectsOnDevice(m *manifest.Manifest) bool {
	return slices.Contains(m.RequiredBindings(), manifest.BindingLocalDevice)
}

// SignsInByOAuth reports whether the owner signs in in a browser here.
func SignsInByOAuth(m *manifest.Manifest) bool {
	return m.Setup != nil && m.Setup.Modality == manifest.ModalityBrowserSession
}

// ReadsFiles reports whether the connector reads files, so that a device can collect it.
func ReadsFiles(m *manifest.Manifest) bool {
	return CollectsOnDevice(m) || slices.Contains(m.RequiredBindings(), manifest.BindingFilesystem)
}

// LargestFile is the maximum size of an imported file in bytes, unless the connector declares a smaller one.
const LargestFile = 20 << 30

// fileImportOf returns which files the owner may import; nil for a connector that imports none.
func fileImportOf(m *manifest.Manifest) *api.FileImport {
	if m.ImportVariable() == "" || CollectsOnDevice(m) {
		return nil
	}
	files := m.Setup.ManualOrUpload
	f := &api.FileImport{Label: cmp.Or(files.Label, "Files of "+m.DisplayName), Description: files.Description,
		Help:       files.HelpText,
		Extensions: append([]string{}, files.AcceptedFileExtensions...), Wanted: files.Wanted(), MaxBytes: LargestFile}
	if v := files.Validation; v != nil && v.MaxFileBytes > 0 {
		f.MaxBytes = min(f.MaxBytes, int64(v.MaxFileBytes))
	}
	return f
}

// consentRequests returns how the owner signs in at the provider.
func consentRequests(o *manifest.OAuth) *api.Consent {
	if o == nil {
		return nil
	}
	c := &api.Consent{Scopes: []api.ConsentScope{}, Page: o.AuthorizeURL != "", Codes: o.DeviceURL != "",
		NeverAsked: o.NeverAsked, ProviderSees: o.ProviderSees,
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
		Name: s.Name, Label: StreamLabel(s, s.Name), Description: s.Description,
		Search: []string{}, Filter: []string{}, TimeField: s.ConsentTimeField, ResourceField: s.ResourceField(),
	}
	out.Fields, _ = Fields(jsontext.Value(s.Schema))
	out.Kind = string(s.Shown())
	roles := s.Roles()
	roles.Each(func(role, field string) {
		if out.Roles == nil {
			out.Roles = map[string]string{}
		}
		out.Roles[role] = field
	})
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
