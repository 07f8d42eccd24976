// Package catalog finds built-in and foreign connectors and determines how each is started: the executable, and its
// exact environment.
package catalog

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/manifest/folder"
)

// Catalog finds connectors: the built-in ones that the host program carries,
// and foreign ones in a directory. Both are child processes and take the same
// road from here on.
type Catalog struct {
	// Host is the pdpp-connectors program; empty means no built-in connectors.
	Host string
	// Dir holds one folder per foreign connector, each with manifest.json and
	// an executable named connector. The manifest's key is the connector's name,
	// whatever the folder is called. A foreign connector with the key of a
	// built-in one has the name folder.BesideName, unless the owner chose it instead.
	Dir string
	// Private are folders of this program's own, such as the home, that no declared path of
	// a connector may open.
	Private []string
	// Home is the owner's home folder, to which default paths of manifests are relative. Empty disables the defaults.
	Home string
	// Imports is the folder with one subfolder per connection for the owner's files. Empty means none.
	Imports string
	// Choices returns what the owner set for the foreign connector with a key. Nil means nothing.
	Choices func(ctx context.Context, key string) (Choice, error)
}

// Connector is something that can be run.
type Connector struct {
	Name     string
	Builtin  bool
	Manifest *manifest.Manifest
	Path     string
	Args     []string
	// Chosen is what the owner set for it.
	Chosen Choice
	// Dir is its own folder, which it may read; empty when it has none. It may write to the folder
	// folder.Data in it.
	Dir string
	// ManifestDigest is the SHA-256, in hex, of the file that Manifest was parsed from; empty for a
	// built-in connector.
	ManifestDigest string
	// Starts is the program that it starts in turn, and Needs what that one has to read. Hosts are the
	// hosts that it may reach through its proxy.
	Starts string
	Needs  []string
	Hosts  []string
	// Declared means that the host program itself collects, as the file that Starts names declares.
	Declared bool
	// Scripts are the files that its command names.
	Scripts []string
	// Private are folders that its declared paths may not open.
	Private []string
	// Home is the folder that defaults of its declared paths lie below; empty for none.
	Home string
	// Imports is the folder with one subfolder per connection for the owner's files; empty for none. It may lie within
	// a private folder.
	Imports string
}

// Finder returns the connector of a name: a Catalog, or a single one by Fixed.
type Finder interface {
	Find(ctx context.Context, name string) (Connector, error)
}

// Fixed finds exactly this connector, whatever the name.
func Fixed(c Connector) Finder { return fixedFinder{c} }

type fixedFinder struct{ Connector }

func (f fixedFinder) Find(context.Context, string) (Connector, error) { return f.Connector, nil }

// ErrUnknownConnector means that no connector of that name is installed.
var ErrUnknownConnector = errors.New("unknown_connector")

var connectorName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// UnusableError means that a connector is installed and cannot be run.
type UnusableError struct {
	Name     string
	Dir      string
	Problems manifest.Problems // at least one
}

func (e *UnusableError) Error() string {
	return "connector " + e.Name + " cannot be used: " + e.Problems.Error()
}

// Unwrap returns the problems.
func (e *UnusableError) Unwrap() error { return e.Problems }

// Installed is something that is installed: a connector, or what is wrong with it.
type Installed struct {
	Name string
	// Dir is the folder of a foreign one.
	Dir       string
	Connector Connector // its manifest is nil when it cannot be used
	// Err is an *UnusableError where the connector is at fault; nil for one that can be used.
	Err error
	// Warnings are what does not keep it from running.
	Warnings manifest.Problems
	// Shadowed means that another connector of the same name is the one that runs.
	Shadowed bool
}

// Problem returns in one text why the entry is not run, each fault with its fix; empty for
// one that is.
func (e Installed) Problem() string {
	switch {
	case e.Err != nil:
		return e.Err.Error()
	case e.Shadowed:
		return e.Warnings[len(e.Warnings)-1].String()
	default:
		return ""
	}
}

// List returns all installed connectors with their problems, built-in ones first.
func (c Catalog) List(ctx context.Context) ([]Installed, error) {
	builtins, err := c.builtins(ctx)
	if err != nil {
		return nil, err
	}
	all := c.described(ctx, builtins)
	dirs, err := c.folders()
	if err != nil {
		return nil, err
	}
	for i, e := range all {
		replaced, err := c.runsInPlace(ctx, dirs, e.Name)
		if err != nil {
			return nil, err
		}
		if replaced {
			all[i].Shadowed = true
			all[i].Warnings = append(e.Warnings, replacedProblem(e.Name, folderOf(dirs, e.Name)))
		}
	}
	for _, dir := range dirs {
		all = append(all, c.entry(ctx, dir, dirs, builtins))
	}
	return all, ctx.Err()
}

func (c Catalog) entry(ctx context.Context, dir string, dirs, builtins []string) Installed {
	e := Installed{Name: folder.Name(dir), Dir: dir}
	e.Connector, e.Warnings, e.Err = c.read(dir)
	if e.Err == nil {
		e.Connector, e.Err = c.withChoice(ctx, e.Connector)
	}
	if first := folderOf(dirs, e.Name); first != dir {
		e.Shadowed = true
		e.Warnings = append(e.Warnings, manifest.Problem{Path: "folder", What: e.Name + " is the name of the connector in " +
			filepath.Base(first) + " as well, which is the one that runs",
			Fix: "remove one of the two"})
	} else if slices.Contains(builtins, e.Name) && !e.Connector.Chosen.InPlace {
		e.Warnings = append(e.Warnings, folder.BesideProblem(e.Name))
		e.Name = folder.BesideName(e.Name)
		e.Connector.Name = e.Name
	}
	return e
}

// Names lists what is installed, built-in ones first, each name once.
func (c Catalog) Names(ctx context.Context) ([]string, error) {
	names, err := c.builtins(ctx)
	if err != nil {
		return nil, err
	}
	dirs, err := c.folders()
	if err != nil {
		return nil, err
	}
	builtins := names
	for _, dir := range dirs {
		name := folder.Name(dir)
		if slices.Contains(builtins, name) {
			replaced, err := c.runsInPlace(ctx, dirs, name)
			if err != nil {
				return nil, err
			}
			if !replaced {
				name = folder.BesideName(name)
			}
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// folders are those that are meant to hold a connector, in the order of their names.
func (c Catalog) folders() ([]string, error) {
	if c.Dir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(c.Dir)
	if err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("read connectors directory: %w", err)
	}
	var dirs []string
	for _, e := range entries {
		if dir := filepath.Join(c.Dir, e.Name()); folder.Is(dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs, nil
}

// folderOf returns the folder of the named connector: the folder with its name, or else the first with a manifest that
// declares it. It returns "" when there is none.
func folderOf(dirs []string, name string) string {
	called := func(dir string) bool { return manifest.CanonicalKey(filepath.Base(dir)) == name }
	declares := func(dir string) bool { return folder.Name(dir) == name }
	i := slices.IndexFunc(dirs, func(dir string) bool { return called(dir) && declares(dir) })
	if i < 0 {
		i = slices.IndexFunc(dirs, declares)
	}
	if i < 0 {
		return ""
	}
	return dirs[i]
}

// Find returns the named connector with its validated manifest. A hyphen in the name equals an underscore. When it is
// not installed, the error lists the installed ones. When it cannot be run, the error is an *UnusableError.
func (c Catalog) Find(ctx context.Context, name string) (Connector, error) {
	name = manifest.CanonicalKey(name)
	dirs, err := c.folders()
	if err != nil {
		return Connector{}, err
	}
	replaced, err := c.runsInPlace(ctx, dirs, name)
	if err != nil {
		return Connector{}, err
	}
	if c.Host != "" && !replaced && connectorName.MatchString(name) {
		// Most names are built-in. The list explains every other result.
		found, err := c.builtin(ctx, name)
		if err == nil && found.Manifest.Key() == name {
			return found, nil
		}
		builtins, listed := c.builtins(ctx)
		if listed != nil {
			return Connector{}, listed
		}
		if slices.Contains(builtins, name) {
			return found, err
		}
	}
	if dir, err := c.folderFor(ctx, dirs, name); err != nil {
		return Connector{}, err
	} else if dir != "" {
		found, _, err := c.read(dir)
		if err != nil {
			return found, err
		}
		found.Name = name
		return c.withChoice(ctx, found)
	}
	if !connectorName.MatchString(name) {
		return Connector{}, fmt.Errorf("%w: %q is not a connector name", ErrUnknownConnector, name)
	}
	known, _ := c.Names(ctx) // only to help the reader of the error
	return Connector{}, fmt.Errorf("%w: %s; installed are: %s", ErrUnknownConnector, name, strings.Join(known, ", "))
}

// folderFor returns the folder of the foreign connector that has a name: its key, or its name beside a built-in
// connector. It returns "" when there is none.
func (c Catalog) folderFor(ctx context.Context, dirs []string, name string) (string, error) {
	if dir := folderOf(dirs, name); dir != "" {
		return dir, nil
	}
	key, beside := folder.CutBeside(name)
	if !beside || folderOf(dirs, key) == "" {
		return "", nil
	}
	builtins, err := c.builtins(ctx)
	if err != nil || !slices.Contains(builtins, key) {
		return "", err
	}
	return folderOf(dirs, key), nil
}

// described returns the named built-in connectors. It asks the host for all of them at once, and for each one when
// that fails, so that one invalid connector does not affect the others.
func (c Catalog) described(ctx context.Context, names []string) []Installed {
	var bodies []json.RawMessage
	if len(names) > 0 {
		if content, err := c.askHost(ctx, append([]string{"manifest"}, names...)...); err == nil {
			bodies = values(content)
		}
	}
	all := make([]Installed, len(names))
	for i, name := range names {
		all[i].Name = name
		if len(bodies) == len(names) {
			all[i].Connector, all[i].Err = c.parsed(name, bodies[i])
		} else {
			all[i].Connector, all[i].Err = c.builtin(ctx, name)
		}
	}
	return all
}

// values are the JSON values of a text, as far as it is JSON.
func values(text []byte) (all []json.RawMessage) {
	for in := json.NewDecoder(bytes.NewReader(text)); ; {
		var one json.RawMessage
		if in.Decode(&one) != nil {
			return all
		}
		all = append(all, one)
	}
}

func (c Catalog) builtin(ctx context.Context, name string) (Connector, error) {
	body, err := c.askHost(ctx, "manifest", name)
	if err != nil {
		return Connector{}, err
	}
	return c.parsed(name, body)
}

// parsed is a built-in connector with its manifest.
func (c Catalog) parsed(name string, body []byte) (Connector, error) {
	m, err := c.hostCacheFor().parseManifest(body)
	if err != nil {
		return Connector{}, fmt.Errorf("manifest of connector %s: %w", name, err)
	}
	return Connector{Name: name, Builtin: true, Manifest: m, Path: c.Host, Args: []string{"run", name}, Private: c.Private,
		Home: c.Home, Imports: c.Imports}, nil
}

func (c Catalog) read(dir string) (Connector, manifest.Problems, error) {
	f, err := folder.Read(dir)
	var problems manifest.Problems
	if errors.As(err, &problems) {
		return Connector{}, f.Warnings, &UnusableError{Name: folder.Name(dir), Dir: f.Dir, Problems: problems}
	}
	if err != nil {
		return Connector{}, f.Warnings, err
	}
	found := Connector{Name: f.Manifest.Key(), Manifest: f.Manifest, ManifestDigest: f.Digest, Path: f.Executable,
		Dir: f.Dir, Private: c.Private, Home: c.Home, Imports: c.Imports}
	problem := cmp.Or(found.foreignApp(), found.withheldCredential())
	if f.Adapted && problem == nil {
		problem = c.adaptFolder(&found)
	}
	if problem != nil {
		return Connector{}, f.Warnings,
			&UnusableError{Name: f.Manifest.Key(), Dir: f.Dir, Problems: manifest.Problems{*problem}}
	}
	return found, f.Warnings, nil
}

func (c Catalog) builtins(ctx context.Context) ([]string, error) {
	if c.Host == "" {
		return nil, nil
	}
	out, err := c.askHost(ctx, "list", "--json", "--names")
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
