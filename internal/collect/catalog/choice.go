package catalog

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/pdpp-go/pdpp/manifest"
)

// Choice is what the owner set for a foreign connector.
type Choice struct {
	// Path is its interpreter, or a replacement of its program. Empty means the one of the manifest.
	Path string `json:"path,omitempty"`
	// InPlace makes the connector run under its own key, although a built-in one has that key.
	InPlace bool `json:"in_place,omitempty"`
	// Read are files and folders that it may read, and Variables those that it gets, besides the declared ones.
	Read      []string `json:"read,omitempty"`
	Variables []string `json:"variables,omitempty"`
	// Modules are folders with modules of its interpreter's language.
	Modules []string `json:"modules,omitempty"`
}

// choice returns what the owner set for a connector.
func (c Catalog) choice(ctx context.Context, name string) (Choice, error) {
	if c.Choices == nil {
		return Choice{}, nil
	}
	return c.Choices(ctx, name)
}

// withChoice returns a foreign connector with what the owner set for it.
func (c Catalog) withChoice(ctx context.Context, found Connector) (Connector, error) {
	if found.Builtin {
		return found, nil
	}
	choice, err := c.choice(ctx, found.Manifest.Key())
	if err != nil {
		return found, err
	}
	found.Chosen = choice
	return found, nil
}

// runsInPlace reports whether the owner chose the foreign connector of a key instead of the built-in one.
func (c Catalog) runsInPlace(ctx context.Context, dirs []string, key string) (bool, error) {
	choice, err := c.choice(ctx, key)
	return choice.InPlace && folderOf(dirs, key) != "", err
}

// SameKey returns the foreign connector with the key of a built-in one. The error is ErrUnknownConnector when there is
// none.
func (c Catalog) SameKey(ctx context.Context, key string) (Connector, error) {
	builtins, err := c.builtins(ctx)
	if err != nil {
		return Connector{}, err
	}
	dirs, err := c.folders()
	if err != nil {
		return Connector{}, err
	}
	dir := folderOf(dirs, key)
	if dir == "" || !slices.Contains(builtins, key) {
		return Connector{}, ErrUnknownConnector
	}
	found, _, err := c.read(dir)
	if err != nil {
		return found, err
	}
	return c.withChoice(ctx, found)
}

// replacedProblem returns the problem that the owner chose the foreign connector of the same key.
func replacedProblem(key, dir string) manifest.Problem {
	return manifest.Problem{
		Path: "folder",
		What: "you chose the connector in " + filepath.Base(dir) + " instead",
		Fix:  "to run the built-in one again: pdpp connectors use " + key + " --builtin",
	}
}

// modulesProblem returns why a folder of modules cannot be used, or nil.
func (c Connector) modulesProblem() *NeedError {
	for _, dir := range c.Chosen.Modules {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return &NeedError{NeedInterpreter, dir, "is not there any more, and you set it as a module folder of the " +
				"connector " + c.Name, "Set another: pdpp connectors set " + c.Name + " --modules DIR."}
		}
	}
	return nil
}

// chosenVariables returns the variables that the owner grants besides the declared ones.
func (c Connector) chosenVariables() []string {
	return slices.DeleteFunc(slices.Clone(c.Chosen.Variables), func(name string) bool { return !c.MayReceive(name) })
}

// privateChoice returns the chosen path that holds data of PDPP itself, or "".
func (c Connector) privateChoice() string {
	paths := slices.Concat(c.Chosen.Read, c.Chosen.Modules)
	if i := slices.IndexFunc(paths, c.OpensPrivate); i >= 0 {
		return paths[i]
	}
	return ""
}

// privateError means that a path which the owner set would open PDPP's own data.
func (c Connector) privateError(path string) error {
	return fmt.Errorf("you let %s read %s, which holds data of PDPP itself; name another folder: "+
		"pdpp connectors set %s --read DIR", c.Name, path, c.Name)
}
