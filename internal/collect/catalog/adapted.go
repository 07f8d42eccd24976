package catalog

import (
	"encoding/json"
	"os"
	"path/filepath"

	"pdpp/manifest"
	"pdpp/manifest/folder"
)

// adapted is a connector that the host program runs by starting another one.
func (c Catalog) adapted(f folder.Folder) (Connector, *manifest.Problem) {
	if c.Host == "" {
		return Connector{}, &manifest.Problem{Path: folder.Adapter, What: "needs the program pdpp-connectors, which is not here", Mend: "install it beside pdpp"}
	}
	var a struct {
		Command []string `json:"command"`
		Paths   []string `json:"paths"`
	}
	body, err := folder.ReadFile(f.Dir, folder.Adapter)
	if err == nil {
		err = json.Unmarshal(body, &a)
	}
	if err != nil || len(a.Command) == 0 || !filepath.IsAbs(a.Command[0]) {
		return Connector{}, &manifest.Problem{Path: folder.Adapter, What: "does not name a program by its whole path", Mend: "wrap it again: pdpp-connectors wrap"}
	}
	for i := range f.Manifest.Streams { // whoever wrote the manifest
		f.Manifest.Streams[i].AsTold = true
	}
	var scripts []string
	for _, arg := range a.Command[1:] {
		if info, err := os.Stat(arg); err == nil && filepath.IsAbs(arg) && info.Mode().IsRegular() {
			scripts = append(scripts, arg)
		}
	}
	return Connector{
		Scripts: scripts,
		Name:    f.Manifest.Key(), Manifest: f.Manifest, Path: c.Host, Args: []string{"adapt", f.Dir}, Dir: f.Dir, Starts: a.Command[0], Needs: a.Paths, Private: c.Private, Home: c.Home, Imports: c.Imports,
	}, nil
}
