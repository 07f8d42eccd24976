package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Load parses every package of the module that contains dir. Files excluded by
// build constraints are read too: a rule holds on every platform.
func Load(dir string) ([]Package, error) {
	cmd := exec.Command("go", "list", "-e",
		"-json=Dir,ImportPath,Name,GoFiles,CgoFiles,IgnoredGoFiles,TestGoFiles,XTestGoFiles", modulePath+"/...")
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, stderr.String())
	}

	var packages []Package
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		if err := dec.Decode(&l); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("decode go list: %w", err)
		}
		p, err := l.parse()
		if err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
}

// listed is the output of go list for one package.
type listed struct {
	Dir            string
	ImportPath     string
	Name           string
	GoFiles        []string
	CgoFiles       []string
	IgnoredGoFiles []string
	TestGoFiles    []string
	XTestGoFiles   []string
}

func (l listed) parse() (Package, error) {
	p := Package{
		Path: strings.TrimPrefix(l.ImportPath, modulePath+"/"),
		Name: l.Name,
		Fset: token.NewFileSet(),
	}
	for _, name := range slices.Concat(l.GoFiles, l.CgoFiles, l.IgnoredGoFiles, l.TestGoFiles, l.XTestGoFiles) {
		src, err := os.ReadFile(filepath.Join(l.Dir, name))
		if err != nil {
			return Package{}, fmt.Errorf("read source: %w", err)
		}
		f, err := parseFile(p.Fset, name, src)
		if err != nil {
			return Package{}, fmt.Errorf("parse %s/%s: %w", p.Path, name, err)
		}
		p.Files = append(p.Files, f)
	}
	return p, nil
}

func parseFile(fset *token.FileSet, name string, src []byte) (File, error) {
	tree, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	return File{Name: name, Test: strings.HasSuffix(name, "_test.go"), AST: tree}, err
}

// Folders returns the names of the folders directly in dir that can hold a
// package. A directory that does not exist has none.
func Folders(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list folders: %w", err)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && e.Name() != "testdata" && !strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(e.Name(), "_") {
			names = append(names, e.Name())
		}
	}
	return names, nil
}
