package foreign

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/manifest/folder"
)

// The files of a connector folder.
const (
	ManifestFile = "manifest.json"
	AdapterFile  = "adapter.json"
)

// TapProtocol is the protocol of a tap.
type TapProtocol string

// The kinds.
const (
	Singer  TapProtocol = "singer"
	Airbyte TapProtocol = "airbyte"
)

// Adapter describes how a tap is started and how it names its streams.
type Adapter struct {
	Kind TapProtocol `json:"kind"`
	// Command is the absolute path of the program and its first arguments. {dir} in an argument is replaced by
	// the run's working directory.
	Command []string `json:"command"`
	// Paths are folders that the program needs to read, in addition to those of the system.
	Paths []string `json:"paths,omitempty"`
	// CatalogFlags pass the catalog to a Singer tap: --catalog, --properties or both.
	CatalogFlags []string `json:"catalog_flags,omitempty"`
	// Config are the members of the tap's configuration that come from variables.
	Config []Setting `json:"config,omitempty"`
	// Values are members that do not come from variables. None of them is a secret.
	Values jsontext.Value `json:"config_values,omitempty"`
	// Streams are the streams of the tap.
	Streams []Stream `json:"streams"`
	// Hosts are the hosts that the tap may reach. The owner's variable adds to them.
	Hosts []string `json:"hosts,omitempty"`
	// Opaque means that the tap's traffic is not inspected. Then its completeness cannot be claimed.
	Opaque bool `json:"no_inspect,omitzero"`
}

// Setting is one member of a tap's configuration.
type Setting struct {
	// Path leads to the member, through objects.
	Path []string `json:"path"`
	Env  string   `json:"env"`
	// Type is how the variable's text is converted: string, integer, number, boolean, or json for everything
	// else.
	Type string `json:"type,omitempty"`
}

// Stream is one stream of a tap.
type Stream struct {
	// Name is the name of the stream in the manifest.
	Name string `json:"name"`
	// Called are the names of the stream in messages of the tap.
	Called []string `json:"called"`
	// Keyless means that the tap declares no key: records are keyed by their digest.
	Keyless bool `json:"keyless,omitzero"`
	// Entry is the stream in the tap's own catalog.
	Entry jsontext.Value `json:"entry"`
}

// Load reads a connector folder.
func Load(dir string) (*manifest.Manifest, Adapter, error) {
	var a Adapter
	body, err := folder.ReadFile(dir, AdapterFile)
	if err != nil {
		return nil, a, fmt.Errorf("read %s: %w", AdapterFile, err)
	}
	if err := json.Unmarshal(body, &a); err != nil {
		return nil, a, fmt.Errorf("read %s: %w", AdapterFile, err)
	}
	if err := a.check(); err != nil {
		return nil, a, fmt.Errorf("%s: %w", AdapterFile, err)
	}
	if body, err = folder.ReadFile(dir, ManifestFile); err != nil {
		return nil, a, fmt.Errorf("read %s: %w", ManifestFile, err)
	}
	m, err := manifest.Parse(body)
	if err != nil {
		return nil, a, fmt.Errorf("%s: %w", ManifestFile, err)
	}
	return m, a, nil
}

func (a *Adapter) check() error {
	switch {
	case a.Kind != Singer && a.Kind != Airbyte:
		return fmt.Errorf("kind is %q; make it singer or airbyte", a.Kind)
	case len(a.Command) == 0 || !filepath.IsAbs(a.Command[0]):
		return errors.New("command does not begin with the whole path of a program; wrap it again")
	case len(a.Streams) == 0:
		return errors.New("streams is empty; wrap the program again")
	}
	return nil
}

// stream returns the stream with a name of the tap.
func (a *Adapter) stream(called string) (Stream, bool) {
	i := slices.IndexFunc(a.Streams, func(s Stream) bool { return slices.Contains(s.Called, called) })
	if i < 0 {
		return Stream{}, false
	}
	return a.Streams[i], true
}

// named returns the stream with a name of the manifest.
func (a *Adapter) named(name string) (Stream, bool) {
	i := slices.IndexFunc(a.Streams, func(s Stream) bool { return s.Name == name })
	if i < 0 {
		return Stream{}, false
	}
	return a.Streams[i], true
}

// encoding writes readable and deterministic JSON.
var encoding = json.JoinOptions(json.Deterministic(true), jsontext.EscapeForHTML(false))

func encodeJSON(v any) jsontext.Value {
	b, err := json.Marshal(v, encoding)
	if err != nil {
		return jsontext.Value("null")
	}
	return b
}
