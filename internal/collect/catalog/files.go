package catalog

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/pdpp-go/pdpp/manifest"
)

// setDefaults sets paths without a value to the manifest's default locations, if those exist.
func (c Connector) setDefaults(env map[string]string) {
	for _, p := range c.Manifest.ReadPaths() {
		if own := c.ownImports(env[instanceVariable]); own != "" && p.PathEnv == c.Manifest.ImportVariable() &&
			env[p.PathEnv] == "" {
			// without a file in it, one that may be missing is
			if found, err := holds(own, p.Import); err == nil && (found || p.Required) {
				env[p.PathEnv] = own
				continue
			}
		}
		if path := c.defaultPath(p.LocalPath, env); env[p.PathEnv] == "" && path != "" && c.MayReceive(p.PathEnv) {
			if _, err := os.Stat(path); err == nil {
				env[p.PathEnv] = path
			}
		}
	}
}

// instanceVariable holds the id of the connection that a connector collects for.
const instanceVariable = "PDPP_CONNECTOR_INSTANCE_ID"

// ownImports returns the folder for the files of one connection, or "".
func (c Connector) ownImports(connectionID string) string {
	if c.Imports == "" || connectionID == "" || connectionID != filepath.Base(connectionID) {
		return ""
	}
	return filepath.Join(c.Imports, connectionID)
}

// ImportFolder returns the folder for the imported files of a connection: the owner's setting, or a folder of its own
// that may not exist yet. It returns "" for a connector without imports. lookup returns the owner's values.
func (c Connector) ImportFolder(connectionID string, lookup func(name string) (string, bool)) string {
	name := c.Manifest.ImportVariable()
	if name == "" {
		return ""
	}
	if message := c.environment(map[string]string{instanceVariable: connectionID}, lookup)[name]; message != "" {
		return message
	}
	return c.ownImports(connectionID)
}

// defaultPath returns the location of a path without a value, or "". A valid manifest declares the enclosing path
// first.
func (c Connector) defaultPath(p manifest.LocalPath, env map[string]string) string {
	base := c.Home
	if p.Within != "" {
		if base = env[p.Within]; base == "" {
			i := slices.IndexFunc(c.Manifest.RuntimeRequirements.LocalPaths,
				func(other manifest.LocalPath) bool { return other.PathEnv == p.Within })
			base = c.defaultPath(c.Manifest.RuntimeRequirements.LocalPaths[i], env)
		}
	}
	if p.Default == "" || !filepath.IsAbs(base) {
		return ""
	}
	return filepath.Join(base, p.Default)
}

// missingAt returns which files at a path are missing, or nil.
func (c Connector) missingAt(p manifest.ReadPath, env map[string]string) *NeedError {
	path := env[p.PathEnv]
	wanted := "what the connector reads"
	if p.Import != nil {
		wanted = p.Import.Wanted()
	} else if p.Description != "" {
		wanted = p.Description
	}
	fail := func(what, next string) *NeedError { return &NeedError{NeedFiles, p.PathEnv, what, next} }
	switch {
	case path == "" && !p.Required:
		return nil
	case path == "":
		what := "is not set"
		if place := c.defaultPath(p.LocalPath, env); place != "" {
			what += ", and there is no " + place
		}
		return fail(what, "Set it to the whole path of a folder with "+wanted+".")
	case !filepath.IsAbs(path):
		if p.Required {
			return fail("is not a whole path", "Begin it with /.")
		}
		return nil
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fail("names "+path+", which is not there", "Make the folder and put into it "+wanted+", or name another one.")
	case err != nil:
		return fail("names "+path+", which cannot be read", "Let the user that PDPP runs as read it.")
	case p.Import == nil || !info.IsDir():
		return nil
	}
	switch found, err := holds(path, p.Import); {
	case err != nil:
		return fail("names "+path+", which cannot be read", "Let the user that PDPP runs as read it.")
	case !found:
		return fail("names "+path+", in which there is nothing to import", "Put into it "+wanted+".")
	}
	return nil
}

// missingFiles reports that a connector of this machine's own files finds none of the folders in which it
// looks; nil when there is one, or when a required path has more to report.
func (c Connector) missingFiles(env map[string]string) *NeedError {
	paths := c.Manifest.ReadPaths()
	if c.Manifest.Setup == nil || c.Manifest.Setup.Modality != manifest.ModalityLocalFiles || len(paths) == 0 {
		return nil
	}
	for _, p := range paths {
		if p.Required || env[p.PathEnv] != "" {
			return nil
		}
	}
	first := paths[0]
	lack := &NeedError{Need: NeedFiles, Name: first.PathEnv, What: "is not set",
		Next: "Set it to the whole path of a folder with what the connector reads."}
	if first.Description != "" {
		lack.Next = "Set it to the whole path of " + first.Description + "."
	}
	if place := c.defaultPath(first.LocalPath, env); place != "" {
		lack.What += ", and there is no " + place
		if len(paths) > 1 {
			lack.What += " nor any other folder that is looked for"
		}
	}
	return lack
}

// looked is how many entries of a folder are looked at; one that has more is not empty.
const looked = 10_000

// holds reports whether a folder has a file that counts, at any depth.
func holds(dir string, files *manifest.FileImport) (found bool, err error) {
	n := 0
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil && path != dir {
			return nil // what cannot be looked into is not counted
		}
		if err != nil {
			return err
		}
		if n++; n > looked || !d.IsDir() && files.Accepts(d.Name()) {
			found = true
			return filepath.SkipAll
		}
		return nil
	})
	return found, err
}
