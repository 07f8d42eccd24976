package catalog

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"pdpp/manifest"
)

// adapterFile is in the folder of a connector that is a program of another protocol. The host
// program adapts it: the folder has no executable of its own.
const adapterFile = "adapter.json"

func isAdapted(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, adapterFile))
	return err == nil
}

// adapted is a connector that the host program runs by starting another one.
func (c Catalog) adapted(name, dir string, m *manifest.Manifest) (Connector, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Connector{}, fmt.Errorf("locate connector %s: %w", name, err)
	}
	body, err := os.ReadFile(filepath.Join(dir, adapterFile))
	if err != nil {
		return Connector{}, fmt.Errorf("read %s of connector %s: %w", adapterFile, name, err)
	}
	var a struct {
		Command []string `json:"command"`
		Paths   []string `json:"paths"`
	}
	if err := json.Unmarshal(body, &a); err != nil || len(a.Command) == 0 || !filepath.IsAbs(a.Command[0]) {
		return Connector{}, fmt.Errorf("%s of connector %s does not name a program by its whole path; wrap it again: pdpp-connectors wrap", adapterFile, name)
	}
	return Connector{
		Name: name, Manifest: m, Path: c.Host, Args: []string{"adapt", dir}, Dir: dir, Starts: a.Command[0], Needs: a.Paths, Private: c.Private,
	}, nil
}
