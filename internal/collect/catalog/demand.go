package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"pdpp/manifest"
	"pdpp/manifest/folder"
)

// Demand is what the owner lets a foreign connector have: this program, these variables, and
// the files at the paths that some of them name.
type Demand struct {
	Executable string   `json:"executable_sha256"`
	Variables  []string `json:"variables"`
	Paths      []string `json:"paths"`
}

// Demand reads the program anew: it may have been replaced since the connector was found.
func (c Connector) Demand() (Demand, error) {
	d := Demand{Variables: []string{}, Paths: []string{}}
	programs := []string{c.Path}
	if c.Starts != "" { // the host is ours; what it starts, and how, is what the owner confirms
		programs = []string{filepath.Join(c.Dir, folder.Adapter), c.Starts}
	}
	sum := sha256.New()
	for _, program := range programs {
		if err := digest(sum, program); err != nil {
			return d, fmt.Errorf("read the program of connector %s: %w", c.Name, err)
		}
	}
	d.Executable = hex.EncodeToString(sum.Sum(nil))
	for _, name := range c.Manifest.EnvNames() {
		if c.mayHave(name) {
			d.Variables = append(d.Variables, name)
		}
	}
	for _, p := range c.Manifest.ReadPaths() {
		d.Paths = append(d.Paths, shownPath(p.LocalPath))
	}
	if rr := c.Manifest.RuntimeRequirements; rr != nil {
		for _, t := range rr.ExternalTools {
			if name := t.Detect.ExecutableEnvOverride; name != "" {
				d.Paths = append(d.Paths, name)
			}
		}
	}
	slices.Sort(d.Paths)
	d.Paths = slices.Compact(d.Paths)
	return d, nil
}

// shownPath names a path by its variable, and by where it is without one: another default
// is another demand.
func shownPath(p manifest.LocalPath) string {
	switch {
	case p.Default == "":
		return p.PathEnv
	case p.Within == "":
		return p.PathEnv + " (else ~/" + p.Default + ")"
	default:
		return p.PathEnv + " (else " + p.Default + " in " + p.Within + ")"
	}
}

func digest(sum io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(sum, f)
	return err
}

// Within reports whether a demand asks for nothing that the other does not: the same program,
// and no variable or path more.
func (d Demand) Within(confirmed Demand) bool {
	inside := func(some, all []string) bool {
		return !slices.ContainsFunc(some, func(s string) bool { return !slices.Contains(all, s) })
	}
	return d.Executable == confirmed.Executable && inside(d.Variables, confirmed.Variables) && inside(d.Paths, confirmed.Paths)
}
