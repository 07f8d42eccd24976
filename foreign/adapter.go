package foreign

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"pdpp/manifest"
	"pdpp/manifest/folder"
)

// The files of a connector folder.
const (
	ManifestFile = "manifest.json"
	AdapterFile  = "adapter.json"
)

// Kind is the protocol that a tap speaks.
type Kind string

// The kinds.
const (
	Singer  Kind = "singer"
	Airbyte Kind = "airbyte"
)

// Adapter is how a tap is started and what it calls things.
type Adapter struct {
	Kind Kind `json:"kind"`
	// Command is the program, by its whole path, and its first arguments. {dir} in an argument
	// stands for the run's working directory.
	Command []string `json:"command"`
	// Paths are folders that the program needs to read, beside those of the system.
	Paths []string `json:"paths,omitempty"`
	// CatalogFlags hand a Singer tap its catalog: --catalog, --properties or both.
	CatalogFlags []string `json:"catalog_flags,omitempty"`
	// Config are the members of the tap's configuration that variables fill.
	Config []Setting `json:"config,omitempty"`
	// Values are members that no variable fills; none of them is a secret.
	Values jsontext.Value `json:"config_values,omitempty"`
	// Streams are what the tap offers.
	Streams []Stream `json:"streams"`
	// Hosts are what the tap may reach; the owner's variable adds to them.
	Hosts []string `json:"hosts,omitempty"`
	// Opaque says that the tap's traffic is not to be inspected: it is let through unread, and
	// nothing can be claimed about its completeness.
	Opaque bool `json:"no_inspect,omitzero"`
}

// Setting is one member of a tap's configuration.
type Setting struct {
	// Path leads to the member, through objects.
	Path []string `json:"path"`
	Env  string   `json:"env"`
	// Type is how the variable's text becomes a value: string, integer, number, boolean, or
	// json for everything else.
	Type string `json:"type,omitempty"`
}

// Stream is one stream of a tap.
type Stream struct {
	// Name is the stream's in the manifest.
	Name string `json:"name"`
	// Called are the names by which messages of the tap mean it.
	Called []string `json:"called"`
	// Keyless says that the tap names no key: records are keyed by their digest.
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

// stream finds a stream by what the tap calls it.
func (a *Adapter) stream(called string) (Stream, bool) {
	i := slices.IndexFunc(a.Streams, func(s Stream) bool { return slices.Contains(s.Called, called) })
	if i < 0 {
		return Stream{}, false
	}
	return a.Streams[i], true
}

// named finds a stream by its name in the manifest.
func (a *Adapter) named(name string) (Stream, bool) {
	i := slices.IndexFunc(a.Streams, func(s Stream) bool { return s.Name == name })
	if i < 0 {
		return Stream{}, false
	}
	return a.Streams[i], true
}

// encoding keeps what is written readable and the same every time.
var encoding = json.JoinOptions(json.Deterministic(true), jsontext.EscapeForHTML(false))

func encode(v any) jsontext.Value {
	b, err := json.Marshal(v, encoding)
	if err != nil {
		return jsontext.Value("null")
	}
	return b
}
