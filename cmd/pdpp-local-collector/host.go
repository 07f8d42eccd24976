package main

import (
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/device/collector"
	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/manifest"
)

const (
	envConnectors    = "PDPP_CONNECTORS_BIN"
	envConnectorsDir = "PDPP_LOCAL_CONNECTORS_DIR"
	hostProgram      = "pdpp-connectors"
)

// offeredBindings are the bindings of this host. There is no interactive one, because a collector runs unattended.
var offeredBindings = map[string]jsontext.Value{
	string(manifest.BindingNetwork):     jsontext.Value("{}"),
	string(manifest.BindingFilesystem):  jsontext.Value("{}"),
	string(manifest.BindingLocalDevice): jsontext.Value("{}"),
}

// collector is the one for the named source instance.
func (p *program) collector() (*collector.Collector, error) {
	dirs, err := collector.DirsFrom(p.lookup)
	if err != nil {
		return nil, err
	}
	profile, err := collector.Resolve(dirs, p.source, p.lookup)
	if err != nil {
		return nil, err
	}
	connectors, err := p.connectors(dirs)
	if err != nil {
		return nil, err
	}
	return p.collectorOf(dirs, profile, connectors), nil
}

func (p *program) collectorOf(dirs collector.Dirs, profile collector.Profile,
	connectors catalog.Finder) *collector.Collector {
	return &collector.Collector{Profile: profile, Dirs: dirs, Connectors: connectors, Lookup: p.lookup,
		Bindings:     offeredBindings,
		AgentVersion: version(), Options: runner.Options{Observe: p.progress()}}
}

// connectors finds the built-in connectors, and the foreign ones in a folder
// beside that of the profiles unless another is named.
func (p *program) connectors(dirs collector.Dirs) (catalog.Catalog, error) {
	dir, _ := p.lookup(envConnectorsDir)
	if dir == "" {
		dir = filepath.Join(filepath.Dir(dirs.Profiles), "connectors")
	}
	home, _ := p.lookup("HOME") // without one, defaults of paths do not count
	found := catalog.Catalog{Dir: dir, Private: []string{dirs.Profiles, dirs.State}, Home: home}
	host, _ := p.lookup(envConnectors)
	if host != "" {
		path, err := filepath.Abs(host)
		if err != nil || !executable(path) {
			return catalog.Catalog{}, &usererr.Error{Code: "configuration", Message: envConnectors +
				" does not name a program: " +
				host,
				Next: "Correct it, or unset it to use the " + hostProgram + " beside this program."}
		}
		found.Host = path
		return found, nil
	}
	if beside := filepath.Join(filepath.Dir(p.executable), hostProgram); executable(beside) {
		found.Host = beside
		return found, nil
	}
	if path, err := p.lookPath(hostProgram); err == nil {
		if path, err = filepath.Abs(path); err == nil {
			found.Host = path
			return found, nil
		}
	}
	return found, nil
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// version names this program to the server.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return hostAgent + info.Main.Version
	}
	return hostAgent + "devel"
}

const hostAgent = "pdpp-local-collector/"
