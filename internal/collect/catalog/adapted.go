package catalog

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/manifest/folder"
)

// kindDeclarative is the kind of an adapter for a file that declares a source.
const kindDeclarative = "declarative"

// adaptFolder completes a connector that the host program runs by starting another one.
func (c Catalog) adaptFolder(found *Connector) *manifest.Problem {
	if c.Host == "" {
		return &manifest.Problem{Path: folder.Adapter, What: "needs the program pdpp-connectors, which is not here",
			Fix: "install it beside pdpp"}
	}
	var a struct {
		Kind    string   `json:"kind"`
		File    string   `json:"file"`
		Command []string `json:"command"`
		Paths   []string `json:"paths"`
		Hosts   []string `json:"hosts"`
	}
	body, err := folder.ReadFile(found.Dir, folder.Adapter)
	if err == nil {
		err = json.Unmarshal(body, &a)
	}
	if err == nil && a.Kind == kindDeclarative && a.File != "" && filepath.Base(a.File) == a.File {
		found.Path, found.Args, found.Declared = c.Host, []string{"adapt", found.Dir}, true
		found.Starts, found.Hosts = filepath.Join(found.Dir, a.File), a.Hosts
		return nil
	}
	if err != nil || len(a.Command) == 0 || !filepath.IsAbs(a.Command[0]) {
		return &manifest.Problem{Path: folder.Adapter, What: "does not name a program by its whole path",
			Fix: "wrap it again: pdpp-connectors wrap"}
	}
	for i := range found.Manifest.Streams { // regardless of the manifest's author
		found.Manifest.Streams[i].AsTold = true
	}
	for _, arg := range a.Command[1:] {
		if info, err := os.Stat(arg); err == nil && filepath.IsAbs(arg) && info.Mode().IsRegular() {
			found.Scripts = append(found.Scripts, arg)
		}
	}
	found.Path, found.Args = c.Host, []string{"adapt", found.Dir}
	found.Starts, found.Needs, found.Hosts = a.Command[0], a.Paths, a.Hosts
	return nil
}
