// Raceable lists the packages of this module whose tests can race: those that, together
// with what they import from this module, have something in their code that runs beside
// something else. The race detector has nothing to see in the others, and makes them many
// times slower.
//
//	raceable [-not] [package...]
//
// With -not it lists the others. What it cannot tell it takes for something that races.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

func main() {
	not := flag.Bool("not", false, "list the packages that cannot race")
	flag.Parse()
	if err := run(os.Stdout, *not, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "raceable:", err)
		os.Exit(1)
	}
}

// whole is the pattern of all packages of this module.
const whole = "pdpp/..."

func run(out io.Writer, not bool, patterns []string) error {
	all, err := list([]string{whole})
	if err != nil {
		return err
	}
	wanted := all
	if !slices.Equal(patterns, []string{whole}) {
		if wanted, err = list(patterns); err != nil {
			return err
		}
	}
	m := module{}
	for _, p := range all {
		m[p.ImportPath] = p
	}
	for _, p := range wanted {
		races, err := m.races(p.ImportPath)
		if err != nil {
			return err
		}
		if races != not {
			fmt.Fprintln(out, p.ImportPath)
		}
	}
	return nil
}

// list asks go for packages.
func list(patterns []string) (found []*listed, err error) {
	var failed bytes.Buffer
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Dir,GoFiles,CgoFiles,TestGoFiles,XTestGoFiles,Imports,TestImports,XTestImports"}, patterns...)...)
	cmd.Stderr = &failed
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list packages: %w: %s", err, failed.Bytes())
	}
	for in := json.NewDecoder(bytes.NewReader(text)); ; {
		p := &listed{}
		if err := in.Decode(p); errors.Is(err, io.EOF) {
			return found, nil
		} else if err != nil {
			return nil, fmt.Errorf("read the list of packages: %w", err)
		}
		found = append(found, p)
	}
}

// listed is a package as go list describes it.
type listed struct {
	ImportPath, Dir                    string
	GoFiles, CgoFiles                  []string
	TestGoFiles, XTestGoFiles          []string
	Imports, TestImports, XTestImports []string

	code func() (bool, error) // whether it is concurrent without its tests, once somebody asked
}

func (p *listed) paths(files ...[]string) (all []string) {
	for _, names := range files {
		for _, name := range names {
			all = append(all, filepath.Join(p.Dir, name))
		}
	}
	return all
}
