package owner

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"pdpp/internal/ownerapi"
	"pdpp/manifest"
)

// Connectors lists what is installed, by display name. One that is broken is left
// out: nothing can be connected with it, and pdpp doctor names it.
func (s *Service) Connectors(ctx context.Context) ([]ownerapi.Connector, error) {
	names, err := s.Config.Connectors.Names(ctx)
	if err != nil {
		return nil, told(err, "list the connectors")
	}
	out := []ownerapi.Connector{}
	for _, name := range names {
		found, err := s.finder.Find(ctx, name)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil {
			out = append(out, describe(found.Name, found.Manifest))
		}
	}
	slices.SortFunc(out, func(a, b ownerapi.Connector) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.DisplayName), strings.ToLower(b.DisplayName)), strings.Compare(a.ID, b.ID))
	})
	return out, nil
}

// describe tells a connector's declaration in the owner's words.
func describe(name string, m *manifest.Manifest) ownerapi.Connector {
	c := ownerapi.Connector{
		ID: name, DisplayName: m.DisplayName, Version: m.Version, Streams: []ownerapi.StreamLabel{},
		Form: formFor(m), Refresh: refreshPolicy(m.RefreshPolicy()), Device: onDevice(m),
	}
	for i := range m.Streams {
		c.Streams = append(c.Streams, streamLabel(&m.Streams[i]))
	}
	return c
}

// onDevice reports whether the connector needs the files of one of the owner's devices.
func onDevice(m *manifest.Manifest) bool {
	return slices.Contains(m.RequiredBindings(), manifest.BindingLocalDevice)
}

func streamLabel(s *manifest.Stream) ownerapi.StreamLabel {
	out := ownerapi.StreamLabel{
		Name: s.Name, Label: labelOf(s, s.Name), Description: s.Description, Fields: properties(jsontext.Value(s.Schema)),
		Search: []string{}, Filter: []string{}, TimeField: s.ConsentTimeField,
	}
	if s.Display != nil && s.Display.Detail != "" {
		out.Description = s.Display.Detail
	}
	if s.Query != nil {
		out.Search, out.Filter = append(out.Search, s.Query.Search...), append(out.Filter, s.Query.Filter...)
	}
	return out
}

// labelOf is what a stream is called; its name in words when nobody says.
func labelOf(s *manifest.Stream, name string) string {
	if s != nil && s.Display != nil && s.Display.Label != "" {
		return s.Display.Label
	}
	return humane(name)
}

func refreshPolicy(p *manifest.RefreshPolicy) ownerapi.RefreshPolicy {
	if p == nil {
		return ownerapi.RefreshPolicy{}
	}
	mode := p.RecommendedMode
	if mode == manifest.RefreshAutomatic && p.ManualOnly() {
		mode = manifest.RefreshManual // it does not let a run start without the owner
	}
	return ownerapi.RefreshPolicy{
		Mode: string(mode), Rationale: p.Rationale, RecommendedSeconds: int64(p.RecommendedIntervalSeconds),
		MinimumSeconds: int64(p.MinimumIntervalSeconds), StaleSeconds: int64(p.MaximumStalenessSeconds),
	}
}

// properties lists the top-level fields of a schema in their order.
func properties(schema jsontext.Value) []string {
	out := []string{}
	eachProperty(schema, func(name string, _ jsontext.Value) { out = append(out, name) })
	return out
}

// eachProperty visits the members of a schema's "properties" in their order, as far
// as they can be read.
func eachProperty(schema jsontext.Value, visit func(name string, value jsontext.Value)) {
	var outline struct {
		Properties jsontext.Value `json:"properties"`
	}
	if len(schema) == 0 || json.Unmarshal(schema, &outline) != nil || outline.Properties.Kind() != '{' {
		return
	}
	dec := jsontext.NewDecoder(bytes.NewReader(outline.Properties))
	_, _ = dec.ReadToken()
	for dec.PeekKind() == '"' {
		name, _ := dec.ReadToken()
		text := name.String() // the token is gone with the next read
		value, err := dec.ReadValue()
		if err != nil {
			return
		}
		visit(text, value)
	}
}
