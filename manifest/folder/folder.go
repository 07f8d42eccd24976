// Package folder reads the folder of a foreign connector: manifest.json and an executable named connector.
// Validation and execution both use it, so that they agree about problems.
package folder

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pdpp-go/pdpp/manifest"
)

// The files of a connector's folder.
const (
	Manifest   = "manifest.json"
	Executable = "connector"
	// Adapter replaces the executable if the host program runs a program with another protocol.
	Adapter = "adapter.json"
	// Data is the folder for the connector's own files, the only part of its folder that it can write to.
	Data = "data"
)

// Folder is a connector's folder that can be run.
type Folder struct {
	Dir        string // absolute
	Executable string // absolute; empty if there is an adapter
	Adapted    bool
	Manifest   *manifest.Manifest
	// Digest is the SHA-256, in hex, of the manifest.json that Manifest was parsed from.
	Digest string
	// Warnings do not prevent the connector from running.
	Warnings manifest.Problems
}

// Name returns the name of a folder's connector: the key in its manifest, or the folder's name if no key can be
// read.
func Name(dir string) string {
	var m manifest.Manifest
	if body, err := ReadFile(dir, Manifest); err == nil {
		var ids struct {
			Key string `json:"connector_key"`
			ID  string `json:"connector_id"`
		}
		if json.Unmarshal(body, &ids) == nil {
			m.ConnectorKey, m.ConnectorID = ids.Key, ids.ID
		}
	}
	if key := m.Key(); key != "" {
		return key
	}
	return manifest.CanonicalKey(filepath.Base(dir))
}

// Is reports whether dir is meant to be a connector's folder, because it contains one of the files.
func Is(dir string) bool {
	for _, file := range []string{Manifest, Executable, Adapter} {
		if _, err := os.Lstat(filepath.Join(dir, file)); err == nil {
			return true
		}
	}
	return false
}

// Read reads a folder. The error is manifest.Problems with every problem, its file and its fix.
func Read(dir string) (Folder, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return Folder{}, fmt.Errorf("locate the folder: %w", err)
	}
	f := Folder{Dir: absolute}
	var faults manifest.Problems
	f.Manifest, f.Digest, f.Warnings, faults = readManifest(absolute)
	if _, err := os.Lstat(filepath.Join(absolute, Adapter)); err == nil {
		f.Adapted = true
	} else {
		f.Executable = filepath.Join(absolute, Executable)
		faults = append(faults, checkExecutable(f.Executable, f.Manifest)...)
	}
	if len(faults) > 0 {
		return f, faults
	}
	if base := filepath.Base(absolute); manifest.CanonicalKey(base) != f.Manifest.Key() {
		f.Warnings = append(f.Warnings, manifest.Problem{Path: "folder " + base, What: "is not named after the key",
			Fix: "the connector is known as " + f.Manifest.Key()})
	}
	return f, nil
}

// besideSuffix ends the name of a connector that runs beside the built-in one with its key.
const besideSuffix = "_folder"

// BesideName returns the name of a connector that runs beside the built-in one with its key.
func BesideName(key string) string { return key + besideSuffix }

// CutBeside returns the key in a name that BesideName returned. It returns false for any other name.
func CutBeside(name string) (key string, beside bool) { return strings.CutSuffix(name, besideSuffix) }

// BesideProblem returns the warning that a connector runs beside the built-in one with its key.
func BesideProblem(key string) manifest.Problem {
	return manifest.Problem{
		Path: "folder",
		What: "a built-in connector is called " + key + ", so this one runs beside it as " + BesideName(key),
		Fix:  "to run it instead of the built-in one: pdpp connectors use " + key + " --folder",
	}
}

func readManifest(dir string) (m *manifest.Manifest, digest string, warnings, faults manifest.Problems) {
	body, err := ReadFile(dir, Manifest)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil, problemAt(Manifest, "is missing", "add it beside the executable")
	}
	if err != nil {
		return nil, "", nil, problemAt(
			Manifest,
			describeReadError(err),
			"make it a readable file of at most 1 MiB, without links",
		)
	}
	m, warnings, err = manifest.Inspect(body)
	switch {
	case errors.As(err, &faults):
		return nil, "", inManifest(warnings), inManifest(faults)
	case err != nil:
		return nil, "", nil, problemAt(Manifest, err.Error(), "write one JSON object")
	}
	sum := sha256.Sum256(body)
	return m, hex.EncodeToString(sum[:]), inManifest(warnings), nil
}

// inManifest adds the name of the manifest file to each path.
func inManifest(problems manifest.Problems) manifest.Problems {
	for i := range problems {
		problems[i].Path = strings.TrimSuffix(Manifest+": "+problems[i].Path, ": ")
	}
	return problems
}

// checkExecutable requires no execute permission for a script with an interpreter declared in the manifest.
func checkExecutable(path string, m *manifest.Manifest) manifest.Problems {
	interpreted := m != nil && m.Runtime != "" && m.Runtime != manifest.RuntimeBinary
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return problemAt(Executable, "is missing", "add the executable under this name")
	case err != nil || !info.Mode().IsRegular():
		return problemAt(Executable, "is not a file", "put the executable itself there")
	case info.Mode().Perm()&0o111 == 0 && !interpreted:
		return problemAt(Executable, "is not executable", "run chmod +x on it")
	}
	return nil
}

func problemAt(path, what, fix string) manifest.Problems {
	return manifest.Problems{{Path: path, What: what, Fix: fix}}
}
