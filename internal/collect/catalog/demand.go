package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/manifest/folder"
)

// Demand is what the owner lets a foreign connector have: these programs, these variables,
// and the files at the paths that some of them name.
type Demand struct {
	// Executable is the digest of the manifest and of everything below that is program text. Whatever the
	// manifest declares, such as an endpoint or a form, is confirmed with it.
	Executable string `json:"executable_sha256"`
	// Variables are those that the connector gets, and those of the app that its sign-in uses.
	Variables []string `json:"variables"`
	// Paths are the variables that name the files it reads, and the folders that adapter.json names.
	Paths []string `json:"paths"`
	// Endpoints are the addresses that get the app's secret and the tokens of a sign-in. Hosts are
	// those that it visits with a browser, or reaches through its proxy.
	Endpoints []string `json:"endpoints"`
	Hosts     []string `json:"hosts"`
	// Starts is what it is started by, in order: the interpreter, if it is not the system that
	// finds it, and the program. Scripts are the further files that the digest covers.
	Starts  []string `json:"starts"`
	Scripts []string `json:"scripts"`
}

// Demand reads the programs again, because they may have been replaced since the connector was found.
func (c Connector) Demand() (Demand, error) {
	d := Demand{Variables: []string{}, Paths: []string{}, Endpoints: []string{}, Hosts: append([]string{}, c.Hosts...),
		Scripts: []string{}}
	sum := sha256.New()
	_, _ = fmt.Fprintf(sum, "manifest %s\n", c.ManifestDigest)
	if err := c.digest(sum, &d); err != nil {
		return d, fmt.Errorf("read the program of connector %s: %w", c.Name, err)
	}
	d.Executable = hex.EncodeToString(sum.Sum(nil))
	for _, name := range c.Manifest.EnvNames() {
		if c.MayReceive(name) {
			d.Variables = append(d.Variables, name)
		}
	}
	if o := c.Manifest.OAuth(); o != nil {
		for _, name := range []string{o.ClientIDEnv, o.ClientSecretEnv} {
			if name != "" && c.MayReceive(name) {
				d.Variables = append(d.Variables, name)
			}
		}
		for _, address := range []string{o.AuthorizeURL, o.TokenURL, o.DeviceURL} {
			if address != "" {
				d.Endpoints = append(d.Endpoints, address)
			}
		}
	}
	if c.Manifest.Browser != nil {
		d.Hosts = append(d.Hosts, c.Manifest.Browser.Hosts...)
	}
	for _, p := range c.Manifest.ReadPaths() {
		d.Paths = append(d.Paths, shownPath(p.LocalPath))
	}
	d.Variables = append(d.Variables, c.chosenVariables()...)
	for _, paths := range [][]string{c.Needs, c.Chosen.Read, c.Chosen.Modules} {
		d.Paths = append(d.Paths, paths...)
	}
	if rr := c.Manifest.RuntimeRequirements; rr != nil {
		for _, t := range rr.ExternalTools {
			if name := t.Detect.ExecutableEnvOverride; name != "" {
				d.Paths = append(d.Paths, name)
			}
		}
	}
	slices.Sort(d.Variables)
	d.Variables = slices.Compact(d.Variables)
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

// digest adds what the connector's programs are. An interpreter of the system is covered by
// its name, since the system replaces it; one that the owner chose elsewhere by what it is.
func (c Connector) digest(sum io.Writer, d *Demand) error {
	var programs []string
	switch by := c.interpreter(); {
	case c.Starts != "": // the host is ours; what it starts, and how, is what the owner confirms
		programs, d.Starts = []string{filepath.Join(c.Dir, folder.Adapter), c.Starts}, []string{c.Starts}
	case c.Chosen.Path != "" && by.Names != nil:
		programs, d.Starts = []string{c.Path}, []string{c.Chosen.Path, c.Path}
		_, _ = fmt.Fprintf(sum, "started by %s\n", c.Chosen.Path)
		if !ofSystem(c.Chosen.Path) {
			programs = append(programs, c.Chosen.Path)
		}
	case c.Chosen.Path != "":
		programs, d.Starts = []string{c.Chosen.Path}, []string{c.Chosen.Path}
	case by.Install != "":
		programs, d.Starts = []string{c.Path}, []string{by.Names[0], c.Path}
		_, _ = fmt.Fprintf(sum, "started by %s\n", by.Names[0])
	default:
		programs, d.Starts = []string{c.Path}, []string{c.Path}
	}
	for _, program := range programs {
		if err := addFile(sum, program); err != nil {
			return err
		}
	}
	scripts, err := c.scripts()
	if err != nil {
		return err
	}
	for _, path := range scripts {
		if slices.Contains(programs, path) {
			continue
		}
		name := path
		if c.Dir != "" && isBelow(path, c.Dir) {
			name = strings.TrimPrefix(path, c.Dir+string(filepath.Separator))
		}
		d.Scripts = append(d.Scripts, name)
		_, _ = fmt.Fprintf(sum, "\nscript %q\n", name)
		if err := addFile(sum, path); err != nil {
			return err
		}
	}
	return nil
}

// scriptEndings are those of files that are read as programs.
var scriptEndings = []string{".py", ".pyz", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".wasm", ".sh", ".rb", ".pl",
	".pm", ".php", ".lua", ".jar", ".so", ".node"}

// scripts are the program files beside the program: those in the connector's folder, at any
// depth, and those that the command of a wrapped program names.
func (c Connector) scripts() (all []string, err error) {
	all = slices.Clone(c.Scripts)
	if c.Dir == "" {
		return all, nil
	}
	err = filepath.WalkDir(c.Dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if path == filepath.Join(c.Dir, folder.Data) {
				return filepath.SkipDir // what the connector itself keeps there
			}
			return nil
		}
		if !slices.Contains(scriptEndings, filepath.Ext(path)) && !folder.IsProgram(path) {
			return nil
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			all = append(all, path)
		}
		return nil
	})
	return all, err
}

func addFile(sum io.Writer, path string) error {
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
	return d.Executable == confirmed.Executable && inside(d.Variables, confirmed.Variables) &&
		inside(d.Paths, confirmed.Paths)
}
