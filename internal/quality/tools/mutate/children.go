package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// shipped are the programs that tests start; see internal/quality/programs.
var shipped = []string{"./cmd/pdpp", "./cmd/pdpp-connectors", "./cmd/pdpp-local-collector"}

// children builds the programs that tests start: once so that they count what they go through, and once
// with each fault.
type children struct {
	programs []string // packages; none where tests start none
	counts   string   // where the counting programs leave what they went through
	counting string   // folder of the counting programs; empty before they are built
}

// variable names the folder in which tests look for built programs.
const variable = "PDPP_TEST_PROGRAMS"

// count builds the counting programs, unless they are there, and returns the environment in which tests
// start them.
func (c *children) count(ctx context.Context, work string, watched []string) ([]string, error) {
	if len(c.programs) == 0 {
		return nil, nil
	}
	if c.counting == "" {
		dir := filepath.Join(work, "counting")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
		c.counts = filepath.Join(work, "children")
		// A program counts only when its own package does.
		packages := strings.Join(append(prefixed(watched), c.programs...), ",")
		args := []string{"build", "-cover", "-covermode=set", "-coverpkg=" + packages}
		if overlay, err := unconfined(work); err != nil {
			return nil, err
		} else if overlay != "" {
			args = append(args, "-overlay="+overlay)
		}
		for _, p := range c.programs {
			name := filepath.Base(p)
			program := filepath.Join(dir, "counting-"+name)
			if out, err := exec.CommandContext(ctx, "go", append(args, "-o", program, p)...).CombinedOutput(); err != nil {
				return nil, fmt.Errorf("build %s: %w\n%s", p, err, out)
			}
			// A server hands no variable of its own to the programs that it starts.
			script := fmt.Sprintf("#!/bin/sh\nGOCOVERDIR='%s' exec '%s' \"$@\"\n", c.counts, program)
			if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
				return nil, err
			}
		}
		c.counting = dir
	}
	if err := os.RemoveAll(c.counts); err != nil {
		return nil, err
	}
	return []string{variable + "=" + c.counting}, os.MkdirAll(c.counts, 0o777)
}

const (
	confinement = "foreign/confine/confine_linux.go"
	confines    = "func (l Limits) Start(start func() error) error {\n"
)

// unconfined writes an overlay without the confinement of connectors, which could not leave what they
// counted; empty where there is no such confinement. Faults are tried with it.
func unconfined(work string) (string, error) {
	source, err := os.ReadFile(confinement)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	free := strings.Replace(string(source), confines, confines+"\tif l.Program != \"\" {\n\t\treturn start()\n\t}\n", 1)
	if free == string(source) {
		return "", fmt.Errorf("%s has no %q: the tool has to be adapted", confinement, strings.TrimSpace(confines))
	}
	return overlayOf(confinement, []byte(free), filepath.Join(work, "unconfined"))
}

// build builds the programs, with a fault unless the overlay is empty, and returns the environment in which
// tests start them. Go links again only the programs that the fault changes.
func (c *children) build(ctx context.Context, work, overlay string) ([]string, error) {
	if len(c.programs) == 0 {
		return nil, nil
	}
	dir := filepath.Join(work, "programs")
	if overlay == "" {
		dir = filepath.Join(work, "clean")
	}
	args := append([]string{"build", "-overlay=" + overlay, "-trimpath", "-ldflags=-s -w", "-o", dir + "/"}, c.programs...)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the programs: %w\n%s", err, out)
	}
	return []string{variable + "=" + dir}, nil
}
