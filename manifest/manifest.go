package manifest

import (
	"path"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/protocol"
)

// Manifest is the declaration of one connector. An absent key is the zero value of its field; a pointer
// distinguishes an absent object from an empty one.
type Manifest struct {
	ProtocolVersion       ProtocolVersion      `json:"protocol_version" rule:"required" doc:"Version of the wire protocol that the connector speaks."`
	ConnectorID           string               `json:"connector_id" rule:"required" doc:"Identity of the connector: a registry URI or a bare key."`
	ConnectorKey          string               `json:"connector_key,omitempty" rule:"pattern=key" doc:"Short key. Absent: the last path element of connector_id."`
	ManifestURI           string               `json:"manifest_uri,omitempty" doc:"Where this manifest is published."`
	Version               string               `json:"version" rule:"required" doc:"Version of the connector."`
	DisplayName           string               `json:"display_name" rule:"required" doc:"Name shown to the owner."`
	Icon                  string               `json:"icon,omitempty" doc:"Icon shown beside the name."`
	Sensitivity           string               `json:"sensitivity,omitempty" doc:"How personal the data is, as a word for the owner."`
	ExternalDocs          []ExternalDoc        `json:"external_docs,omitempty" doc:"Links to the provider's own documentation."`
	RuntimeRequirements   *RuntimeRequirements `json:"runtime_requirements,omitempty" doc:"What the connector needs from the machine that runs it."`
	Browser               *Browser             `json:"browser,omitempty" doc:"What the connector visits with a browser."`
	Setup                 *Setup               `json:"setup,omitempty" doc:"How the owner sets up a connection."`
	Capabilities          *Capabilities        `json:"capabilities,omitempty" doc:"Metadata about how the connector behaves."`
	Runtime               Runtime              `json:"runtime,omitempty" doc:"Interpreter that the executable needs. Absent: what its first line names."`
	Profiles              []Profile            `json:"profiles,omitempty" doc:"Selections of streams that the owner can choose by name."`
	ReasonDisplayMessages map[string]string    `json:"reason_display_messages,omitempty" doc:"Owner-readable text for each reason code of this connector."`
	Streams               []Stream             `json:"streams,omitempty" doc:"The streams of records that the connector emits."`
}

// ExternalDoc is a labelled link.
type ExternalDoc struct {
	Label string `json:"label" rule:"required" doc:"Text of the link."`
	URL   string `json:"url" rule:"required,pattern=web" doc:"Address of the page."`
}

// Profile is a named selection of streams.
type Profile struct {
	ID      string          `json:"id" rule:"required" doc:"Name, unique within the manifest."`
	Label   string          `json:"label,omitempty" doc:"What the owner chooses, in words."`
	Streams []ProfileStream `json:"streams" rule:"required,min=1" doc:"What is selected."`
}

// ProfileStream is one stream of a profile.
type ProfileStream struct {
	Name string `json:"name" rule:"required" doc:"Name of a declared stream."`
	View string `json:"view,omitempty" doc:"View of that stream. Absent: every field."`
}

// Stream returns the named stream. The result points into the manifest.
func (m *Manifest) Stream(name string) (*Stream, bool) {
	i := slices.IndexFunc(m.Streams, func(s Stream) bool { return s.Name == name })
	if i < 0 {
		return nil, false
	}
	return &m.Streams[i], true
}

// Profile returns the named profile, or nil.
func (m *Manifest) Profile(id string) *Profile {
	if i := slices.IndexFunc(m.Profiles, func(p Profile) bool { return p.ID == id }); i >= 0 {
		return &m.Profiles[i]
	}
	return nil
}

// DetailStreams returns the names of the streams with parent among their parent_streams, in order of declaration.
// A parent with detail streams anchors a detail lane.
func (m *Manifest) DetailStreams(parent string) []string {
	var names []string
	for _, s := range m.Streams {
		if slices.Contains(s.ParentStreams, parent) {
			names = append(names, s.Name)
		}
	}
	return names
}

// RefreshPolicy returns capabilities.refresh_policy, or nil if it is not declared.
func (m *Manifest) RefreshPolicy() *RefreshPolicy {
	if m.Capabilities == nil {
		return nil
	}
	return m.Capabilities.RefreshPolicy
}

// RequiredBindings returns the bindings that a run needs to start, sorted.
func (m *Manifest) RequiredBindings() []Binding {
	if m.RuntimeRequirements == nil {
		return nil
	}
	var names []Binding
	for name, use := range m.RuntimeRequirements.Bindings {
		if use.Required {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Key returns the short key of the connector: connector_key, or the last path element of connector_id. Hyphens
// become underscores, so in a valid manifest it matches [a-z][a-z0-9_]*.
func (m *Manifest) Key() string {
	if m.ConnectorKey != "" {
		return CanonicalKey(m.ConnectorKey)
	}
	return deriveKey(m.ConnectorID)
}

// CanonicalKey returns the form of a key that identifies connectors: hyphens become underscores.
func CanonicalKey(key string) string { return strings.ReplaceAll(key, "-", "_") }

// deriveKey returns "" if the last path element does not begin with a letter.
func deriveKey(id string) string {
	if cut := strings.IndexAny(id, "?#"); cut >= 0 {
		id = id[:cut]
	}
	last := strings.ToLower(path.Base(id))
	key := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, last)
	if !patterns["key"].re.MatchString(key) {
		return ""
	}
	return key
}

// EnvPrefix returns the prefix of every PDPP_ variable of this connector, without the underscore after it.
func (m *Manifest) EnvPrefix() string {
	return "PDPP_" + strings.ToUpper(m.Key())
}

// DefaultScope returns every stream that the connector can collect in its current setup.
func (m *Manifest) DefaultScope() []protocol.StreamScope {
	var out []protocol.StreamScope
	for i := range m.Streams {
		s := &m.Streams[i]
		unsupported := s.Availability != nil && s.Availability.State == AvailabilityUnsupportedInMode
		if p := s.Policy(); !unsupported && p != PolicyUnsupported && p != PolicyUnavailable {
			out = append(out, protocol.StreamScope{Name: s.Name})
		}
	}
	return out
}
