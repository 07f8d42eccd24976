// Package catalog finds connectors, built in or foreign, and says how each is
// started: the executable, and the environment that it gets and nothing more.
package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"pdpp/manifest"
)

// Catalog finds connectors: the built-in ones that the host program carries,
// and foreign ones in a directory. Both are child processes and take the same
// road from here on.
type Catalog struct {
	// Host is the pdpp-connectors program; empty means no built-in connectors.
	Host string
	// Dir holds one folder per foreign connector, each with manifest.json and
	// an executable named connector. A foreign connector does not replace a
	// built-in one of the same name.
	Dir string
	// Private are folders of this program's own, such as the home, that no declared path of
	// a connector may open.
	Private []string
}

// Connector is something that can be run.
type Connector struct {
	Name     string
	Builtin  bool
	Manifest *manifest.Manifest
	Path     string
	Args     []string
	// Dir is its own folder, in which it may write; empty when it has none.
	Dir string
	// Starts is the program that it starts in turn, and Needs what that one has to read.
	Starts string
	Needs  []string
	// Private are folders that its declared paths may not open.
	Private []string
}

// Finder gives the connector of a name: a Catalog, or a single one by Fixed.
type Finder interface {
	Find(ctx context.Context, name string) (Connector, error)
}

// Fixed finds exactly this connector, whatever the name.
func Fixed(c Connector) Finder { return fixed{c} }

type fixed struct{ Connector }

func (f fixed) Find(context.Context, string) (Connector, error) { return f.Connector, nil }

// ErrUnknownConnector means that no connector of that name is installed.
var ErrUnknownConnector = errors.New("unknown_connector")

// hostTimeout bounds a question to the host program, which answers from memory.
const hostTimeout = 15 * time.Second

const manifestFile = "manifest.json"

var connectorName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// Names lists what is installed, built-in ones first.
func (c Catalog) Names(ctx context.Context) ([]string, error) {
	names, err := c.builtins(ctx)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(c.Dir)
	if c.Dir != "" && err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("read connectors directory: %w", err)
	}
	for _, e := range entries {
		_, err := os.Stat(filepath.Join(c.Dir, e.Name(), manifestFile))
		if err == nil && connectorName.MatchString(e.Name()) && !slices.Contains(names, e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// Find gives the named connector with its manifest validated. The error names
// what is installed when the connector is not.
func (c Catalog) Find(ctx context.Context, name string) (Connector, error) {
	if !connectorName.MatchString(name) {
		return Connector{}, fmt.Errorf("%w: %q is not a connector name", ErrUnknownConnector, name)
	}
	builtins, err := c.builtins(ctx)
	if err != nil {
		return Connector{}, err
	}
	if slices.Contains(builtins, name) {
		body, err := c.askHost(ctx, "manifest", name)
		if err != nil {
			return Connector{}, err
		}
		m, err := manifest.Parse(body)
		if err != nil {
			return Connector{}, fmt.Errorf("manifest of connector %s: %w", name, err)
		}
		return Connector{Name: name, Builtin: true, Manifest: m, Path: c.Host, Args: []string{"run", name}, Private: c.Private}, nil
	}
	return c.foreign(ctx, name)
}

func (c Catalog) foreign(ctx context.Context, name string) (Connector, error) {
	dir := filepath.Join(c.Dir, name)
	body, err := os.ReadFile(filepath.Join(dir, manifestFile))
	if c.Dir == "" || os.IsNotExist(err) {
		known, _ := c.Names(ctx) // only to help the reader of the error
		return Connector{}, fmt.Errorf("%w: %s; installed are: %s", ErrUnknownConnector, name, strings.Join(known, ", "))
	}
	if err != nil {
		return Connector{}, fmt.Errorf("read manifest of connector %s: %w", name, err)
	}
	m, err := manifest.Parse(body)
	if err != nil {
		return Connector{}, fmt.Errorf("manifest of connector %s: %w", name, err)
	}
	if m.Key() != name {
		return Connector{}, fmt.Errorf("manifest of connector %s declares the key %s; name the folder after the key", name, m.Key())
	}
	if c.Host != "" && isAdapted(dir) {
		return c.adapted(name, dir, m)
	}
	path, err := filepath.Abs(filepath.Join(dir, "connector"))
	if err != nil {
		return Connector{}, fmt.Errorf("locate connector %s: %w", name, err)
	}
	info, err := os.Stat(path)
	if err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
		return Connector{}, fmt.Errorf("connector %s has no executable file named connector in its folder; add one and make it executable", name)
	}
	return Connector{Name: name, Manifest: m, Path: path, Dir: filepath.Dir(path), Private: c.Private}, nil
}

func (c Catalog) builtins(ctx context.Context) ([]string, error) {
	if c.Host == "" {
		return nil, nil
	}
	out, err := c.askHost(ctx, "list", "--json")
	if err != nil {
		return nil, err
	}
	var list []struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal(out, &list); err != nil {
		return nil, fmt.Errorf("read the list of built-in connectors: %w", err)
	}
	names := make([]string, len(list))
	for i, e := range list {
		names[i] = e.Name
	}
	return names, nil
}

func (c Catalog) askHost(ctx context.Context, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, hostTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.Host, args...)
	cmd.Env = []string{}
	cmd.WaitDelay = time.Second // for a host whose descendant keeps the pipes open
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("ask %s %s: %w: %s", filepath.Base(c.Host), args[0], err, strings.TrimSpace(stderr.String()))
	}
	return out, nil
}
