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
	if c.Chosen.Path != "" && !ofSystem(program) {
		for _, path := range librariesOf(program) {
			if !c.OpensPrivate(path) {
				l.Execute = append(l.Execute, path)
			}
		}
	}
	if path := c.privateChoice(); path != "" {
		return l, c.privateError(path)
	}
	l.Read = append(l.Read, c.Chosen.Read...)
	l.Execute = append(l.Execute, c.Chosen.Modules...) // native modules are loaded as programs
	for _, path := range c.Needs {
		if c.OpensPrivate(path) {
			return l, fmt.Errorf("%s names %s, which holds data of PDPP itself; keep the program elsewhere and wrap it again",
				folder.Adapter, path)
		}
		l.Execute = append(l.Execute, path)
	}
	for _, p := range c.Manifest.ReadPaths() {
		path := env[p.PathEnv]
		if !filepath.IsAbs(path) {
			continue // not set, or not a place that a program in another folder could find
		}
		if path != c.ownImports(env[instanceVariable]) && c.OpensPrivate(path) {
			return l, fmt.Errorf("%s names %s, which holds data of PDPP itself; name a folder of the source alone", p.PathEnv,
				path)
		}
		l.Read = append(l.Read, path)
		for _, ending := range databaseParts { // a single database may be named
			if info, err := os.Stat(path + ending); err == nil && info.Mode().IsRegular() && !c.OpensPrivate(path+ending) {
				l.Read = append(l.Read, path+ending)
			}
		}
	}
	if rr := c.Manifest.RuntimeRequirements; rr != nil {
		for _, t := range rr.ExternalTools {
			if path := env[t.Detect.ExecutableEnvOverride]; filepath.IsAbs(path) && !c.OpensPrivate(path) {
				l.Execute = append(l.Execute, path)
			}
		}
	}
	return l, nil
}

// databaseParts are the endings of files that belong to a database of SQLite.
var databaseParts = []string{"-wal", "-shm", "-journal"}

// OpensPrivate reports whether read access to the path would include something private.
func (c Connector) OpensPrivate(path string) bool {
	path = settled(path)
	for _, private := range c.Private {
		private = settled(private)
		if isBelow(private, path) || isBelow(path, private) {
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

// isBelow reports whether path is dir or below it.
func isBelow(path, dir string) bool {
	inside, err := filepath.Rel(dir, path)
	return err == nil && inside != ".." && !strings.HasPrefix(inside, ".."+string(filepath.Separator))
}
