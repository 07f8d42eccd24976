package folder

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/pdpp-go/pdpp/manifest"
)

// The interpreter of a program is declared in its manifest, or named in its first line.
func TestInterpreterOf(t *testing.T) {
	path := filepath.Join(t.TempDir(), "connector")
	for _, c := range []struct {
		text    string
		runtime manifest.Runtime
		want    string // the first of the names
		command []string
	}{
		{"#!/bin/sh\n", "", "/bin/sh", []string{path}},
		{"#! /bin/sh -e\nfi", "", "/bin/sh", []string{path}},
		{"#!/usr/bin/env sh\n", "", "sh", []string{path}},
		{"#!/usr/bin/env -S TZ=UTC no-such-shell -x\n", "", "no-such-shell", []string{path}},
		{"#!/usr/bin/env\n", "", "", []string{path}},
		{"#!\n", "", "", []string{path}},
		{"\x7fELF", "", "", []string{path}},
		{"", "", "", []string{path}},
		{"#!/bin/sh\n", manifest.RuntimeBinary, "", []string{path}},
		{"print()", manifest.RuntimePython, "python3", []string{Interpreter{Names: []string{"python3"}}.Find(), path}},
		{"#!/bin/sh\n", manifest.RuntimeNode, "node", nil},
		{"1", manifest.RuntimeDeno, "deno", nil},
	} {
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		i := InterpreterOf(path, c.runtime)
		if got := append(i.Names, "")[0]; got != c.want {
			t.Errorf("%q for %q is read by %q, want %q", c.text, c.runtime, got, c.want)
		}
		f := Folder{Executable: path, Manifest: &manifest.Manifest{Runtime: c.runtime}}
		if got := f.Command(); c.command != nil && !slices.Equal(got, c.command) {
			t.Errorf("%q for %q is started by %q, want %q", c.text, c.runtime, got, c.command)
		}
	}
	if got := (Interpreter{Names: []string{"/no/such", "no-such", "sh"}}).Find(); filepath.Base(got) != "sh" {
		t.Errorf("found %q", got)
	}
	if got := Reading("script", "/opt/deno-2/bin/deno"); !slices.Equal(got, []string{"run", "--allow-all", "script"}) {
		t.Errorf("deno is told %q", got)
	}
}
