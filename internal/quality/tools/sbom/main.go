// Command sbom prints the modules that Go programs were built from, as a CycloneDX document. It reads what the
// toolchain recorded in the programs, so the list is what is in them: sbom PROGRAM...
package main

import (
	"cmp"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

func main() {
	if err := write(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

// document is the part of CycloneDX 1.6 that describes Go modules.
type document struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl"`
	Hashes  []hash `json:"hashes,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

// write describes the programs, which were built from one main module.
func write(w io.Writer, programs []string) error {
	if len(programs) == 0 {
		return fmt.Errorf("name at least one program")
	}
	doc := document{Format: "CycloneDX", Spec: "1.6", Version: 1, Components: []component{}}
	modules := map[string]component{}
	for _, path := range programs {
		info, err := buildinfo.ReadFile(path)
		if err != nil {
			return err
		}
		doc.Metadata.Component = newComponent("application", info.Main.Path, info.Main.Version)
		toolchain := newComponent("library", "stdlib", strings.TrimPrefix(info.GoVersion, "go"))
		modules[toolchain.PURL] = toolchain
		for _, dep := range info.Deps {
			used := dep
			if dep.Replace != nil {
				used = dep.Replace
			}
			c := newComponent("library", used.Path, used.Version)
			if sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(used.Sum, "h1:")); err == nil && len(sum) > 0 {
				c.Hashes = []hash{{"SHA-256", hex.EncodeToString(sum)}}
			}
			modules[c.PURL] = c
		}
	}
	for _, c := range modules {
		doc.Components = append(doc.Components, c)
	}
	slices.SortFunc(doc.Components, func(a, b component) int { return cmp.Compare(a.PURL, b.PURL) })
	text, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

func newComponent(kind, path, version string) component {
	return component{Type: kind, Name: path, Version: version, PURL: "pkg:golang/" + path + "@" + version}
}
