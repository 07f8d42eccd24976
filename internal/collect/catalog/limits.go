package catalog

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pdpp-go/pdpp/foreign/confine"
	"github.com/pdpp-go/pdpp/manifest/folder"
)

// limits are the files that the connector may touch: its own folder, of which it may write to the data
// folder, and what its manifest declares and the owner's variables name. A declared path that would open something
// private of ours is an error, because a reader of a folder reads everything in it.
func (c Connector) limits(env map[string]string, program string) (confine.Limits, error) {
	l := confine.Limits{Program: program}
	if program != c.Path {
		l.Execute = append(l.Execute, c.Path)
	}
	if c.Dir != "" {
		l.Execute = append(l.Execute, c.Dir)
	}
	if data := env[dataVariable]; data != "" {
		l.Write = append(l.Write, data)
	}
	if c.Chosen != "" && !ofSystem(program) {
		for _, path := range librariesOf(program) {
			if !c.opensPrivate(path) {
				l.Execute = append(l.Execute, path)
			}
		}
	}
	for _, path := range c.Needs {
		if c.opensPrivate(path) {
			return l, fmt.Errorf("%s names %s, which holds data of PDPP itself; keep the program elsewhere and wrap it again", folder.Adapter, path)
		}
		l.Execute = append(l.Execute, path)
	}
	for _, p := range c.Manifest.ReadPaths() {
		path := env[p.PathEnv]
		if !filepath.IsAbs(path) {
			continue // not set, or not a place that a program in another folder could find
		}
		if path != c.ownImports(env[instanceVariable]) && c.opensPrivate(path) {
			return l, fmt.Errorf("%s names %s, which holds data of PDPP itself; name a folder of the source alone", p.PathEnv, path)
		}
		l.Read = append(l.Read, path)
		for _, ending := range databaseParts { // a single database may be named
			if info, err := os.Stat(path + ending); err == nil && info.Mode().IsRegular() && !c.opensPrivate(path+ending) {
				l.Read = append(l.Read, path+ending)
			}
		}
	}
	if rr := c.Manifest.RuntimeRequirements; rr != nil {
		for _, t := range rr.ExternalTools {
			if path := env[t.Detect.ExecutableEnvOverride]; filepath.IsAbs(path) && !c.opensPrivate(path) {
				l.Execute = append(l.Execute, path)
			}
		}
	}
	return l, nil
}

// databaseParts are the endings of files that belong to a database of SQLite.
var databaseParts = []string{"-wal", "-shm", "-journal"}

// opensPrivate reports whether whoever may read the path could read something private.
func (c Connector) opensPrivate(path string) bool {
	path = settled(path)
	for _, private := range c.Private {
		private = settled(private)
		if within(private, path) || within(path, private) {
			return true
		}
	}
	return false
}

// settled is a path without links, as far as it exists.
func settled(path string) string {
	path = filepath.Clean(path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// within reports whether path is dir or below it.
func within(path, dir string) bool {
	inside, err := filepath.Rel(dir, path)
	return err == nil && inside != ".." && !strings.HasPrefix(inside, ".."+string(filepath.Separator))
}
