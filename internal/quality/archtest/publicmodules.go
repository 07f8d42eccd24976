package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
)

// PublicRoom lists the modules that a program gets when it imports packages that are meant for people outside this
// repository.
type PublicRoom struct {
	Room    string   // the packages, as a pattern; the most specific one wins
	Modules []string // third-party modules that they need, directly or through other packages
}

// Modules of the public packages.
const (
	moduleJSON   = "github.com/go-json-experiment/json"
	moduleSchema = "github.com/santhosh-tekuri/jsonschema/v6"
	moduleText   = "golang.org/x/text"
	moduleSystem = "golang.org/x/sys"
	moduleZip    = "github.com/klauspost/compress"
	moduleYAML   = "go.yaml.in/yaml/v3"
)

// kitModules come with everything that reads a manifest.
var kitModules = []string{moduleJSON, moduleSchema, moduleText}

// PublicRooms lists what each public package brings. No module of the server is among them: no database, no queue, no
// templates. Connectortest runs the real runner and store, and is not listed.
var PublicRooms = []PublicRoom{
	{"governor/...", nil},
	{"protocol", []string{moduleJSON}},
	{"protocol/surface", nil},
	{"manifest/...", kitModules},
	{"conformance", append([]string{moduleSystem}, kitModules...)},
	{"declarative/expression", []string{moduleJSON}},
	{"declarative/document", []string{moduleJSON, moduleYAML}},
	{"declarative/describe", append([]string{moduleYAML}, kitModules...)},
	{"declarative/source", append([]string{moduleYAML}, kitModules...)},
	{"declarative/tryout", append([]string{moduleYAML, moduleSystem}, kitModules...)},
	{"declarative/review", nil},
	{"declarative", append([]string{moduleYAML}, kitModules...)},
	{"connectorkit", kitModules},
	{"connectorkit/answers", []string{moduleJSON}},
	{"connectorkit/contentline", nil},
	{"connectorkit/publicaddress", nil},
	{"connectorkit/icalendar", nil},
	{"connectorkit/dav", kitModules},
	{"connectorkit/googleapi", kitModules},
	{"connectorkit/rest", kitModules},
	{"connectorkit/browser", append([]string{"github.com/chromedp/cdproto"}, kitModules...)},
	{"connectorkit/localfile", append([]string{moduleZip, moduleYAML}, kitModules...)},
	{"connectorkit/localarchive/...", append([]string{moduleZip, moduleYAML}, kitModules...)},
	{"connectorkit/message", append([]string{moduleZip, moduleYAML, "golang.org/x/net"}, kitModules...)},
	{"connectorkit/localdb", []string{moduleJSON, moduleSystem, "modernc.org/sqlite", "modernc.org/libc",
		"modernc.org/mathutil", "modernc.org/memory", "github.com/dustin/go-humanize", "github.com/google/uuid",
		"github.com/remyoudompheng/bigfft"}},
	{"connectorkit/connectortest/inprocess", kitModules},
	{"connectorkit/connectortest/recorded", append([]string{moduleSystem}, kitModules...)},
}

// Needed is a package with the third-party modules that it needs.
type Needed struct {
	Path    string // below the module
	Modules []string
}

// LoadNeeded returns what every package of the public rooms needs.
func LoadNeeded(dir string, rooms []PublicRoom) ([]Needed, error) {
	args := []string{"list", "-deps", "-json=ImportPath,Deps,Module"}
	for _, r := range rooms {
		args = append(args, modulePath+"/"+r.Room)
	}
	cmd := exec.Command("go", args...)
	var problems bytes.Buffer
	cmd.Dir, cmd.Stderr = dir, &problems
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, problems.String())
	}
	type listed struct {
		ImportPath string
		Deps       []string
		Module     *struct{ Path string }
	}
	var all []listed
	modules := map[string]string{} // of packages
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		if err := dec.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("decode go list: %w", err)
		}
		if all = append(all, l); l.Module != nil && !strings.HasPrefix(l.Module.Path, modulePath) {
			modules[l.ImportPath] = l.Module.Path
		}
	}
	var needed []Needed
	for _, l := range all {
		own, isOwn := strings.CutPrefix(l.ImportPath, modulePath+"/")
		if !isOwn {
			continue
		}
		n := Needed{Path: own}
		for _, d := range l.Deps {
			if m := modules[d]; m != "" && !slices.Contains(n.Modules, m) {
				n.Modules = append(n.Modules, m)
			}
		}
		needed = append(needed, n)
	}
	return needed, nil
}

// CheckPublicModules compares what the packages of the public rooms need with what they may bring.
func CheckPublicModules(needed []Needed, rooms []PublicRoom) []Finding {
	var found []Finding
	for _, n := range needed {
		best, ok := PublicRoom{}, false
		for _, r := range rooms {
			if matches(r.Room, n.Path) && (!ok || r.Room == n.Path || len(r.Room) > len(best.Room)) {
				best, ok = r, true
			}
		}
		for _, m := range n.Modules {
			if ok && !slices.Contains(best.Modules, m) {
				found = append(found, Finding{n.Path, "needs the module " + m,
					"a program that imports a public package gets no module of the server; see PublicRooms"})
			}
		}
	}
	return found
}
