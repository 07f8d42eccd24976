package manifest

import (
	"path"
	"slices"
	"strings"

	"pdpp/protocol"
)

// Manifest is the whole declaration of one connector. An absent key is the zero
// value of its field; a pointer tells an absent object from an empty one.
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

// Profile is a selection of streams under a name.
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

// Stream finds a stream by name. The result points into the manifest.
func (m *Manifest) Stream(name string) (*Stream, bool) {
	i := slices.IndexFunc(m.Streams, func(s Stream) bool { return s.Name == name })
	if i < 0 {
		return nil, false
	}
	return &m.Streams[i], true
}

// Profile finds a profile by name; nil when the manifest has none of it.
func (m *Manifest) Profile(id string) *Profile {
	if i := slices.IndexFunc(m.Profiles, func(p Profile) bool { return p.ID == id }); i >= 0 {
		return &m.Profiles[i]
	}
	return nil
}

// DetailStreams names the streams whose parent_streams include parent, in the
// order of declaration. A parent with detail streams anchors a detail lane.
func (m *Manifest) DetailStreams(parent string) []string {
	var names []string
	for _, s := range m.Streams {
		if slices.Contains(s.ParentStreams, parent) {
			names = append(names, s.Name)
		}
	}
	return names
}

// RefreshPolicy is capabilities.refresh_policy, or nil when none is declared.
func (m *Manifest) RefreshPolicy() *RefreshPolicy {
	if m.Capabilities == nil {
		return nil
	}
	return m.Capabilities.RefreshPolicy
}

// RequiredBindings names the bindings without which a run must not start, sorted.
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

// Key is the short key of the connector: connector_key, or else one derived from
// the last path element of connector_id. A hyphen reads as an underscore, so that
// in a valid manifest it matches [a-z][a-z0-9_]*.
func (m *Manifest) Key() string {
	if m.ConnectorKey != "" {
		return CanonicalKey(m.ConnectorKey)
	}
	return deriveKey(m.ConnectorID)
}

// CanonicalKey is the spelling of a key by which connectors are told apart: a hyphen
// reads as an underscore.
func CanonicalKey(key string) string { return strings.ReplaceAll(key, "-", "_") }

// deriveKey is empty when the last path element does not begin with a letter.
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

// EnvPrefix begins the name of every PDPP_ variable that belongs to this
// connector, without the separating underscore.
func (m *Manifest) EnvPrefix() string {
	return "PDPP_" + strings.ToUpper(m.Key())
}

// DefaultScope is every stream that the connector can collect as it is set up.
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
