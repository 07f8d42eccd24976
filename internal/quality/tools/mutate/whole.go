package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// wholeTime takes the place of a suite's duration, which is not measured: the tests are abandoned after about
// two minutes.
const wholeTime = 8 * time.Second

// tryWhole runs all tests of a package with a fault and returns the one that fails: twice with the fault, and
// not without it. It is cheaper than measuring what they reach as long as a package has few faults.
func (t *trials) tryWhole(ctx context.Context, dir, overlay string) (string, error) {
	started, err := startsPrograms(ctx, dir)
	if err != nil {
		return "", err
	}
	var faulty, clean []string
	if started {
		if faulty, err = t.build(ctx, t.work, overlay); err != nil {
			return "", err
		}
	}
	var ran []string // tests that fail without the fault as well
	for {
		all := test{Pattern: everyTest, Took: wholeTime, skip: strings.Join(ran, "|")}
		by, err := t.runTests(ctx, dir, overlay, faulty, []test{all})
		if by == "" || err != nil || strings.HasPrefix(by, doNotCompile) {
			return by, err
		}
		if started && clean == nil {
			if clean, err = t.build(ctx, t.work, ""); err != nil {
				return "", err
			}
		}
		none := filepath.Join(t.work, "none.json")
		if err := os.WriteFile(none, []byte("{}"), 0o644); err != nil {
			return "", err
		}
		without, err := t.runTests(ctx, dir, none, clean, []test{{Pattern: by, Took: wholeTime}})
		if without == "" || err != nil {
			return by, err
		}
		fmt.Fprintf(os.Stderr, "left out, since it fails without any fault: %s %s\n", dir, by)
		if by == everyTest {
			return "", nil
		}
		ran = append(ran, by)
	}
}

// startsPrograms reports whether the tests of a package can start a shipped program.
func startsPrograms(ctx context.Context, dir string) (bool, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-deps", "-test", "./"+dir).Output()
	return strings.Contains(string(out), "/internal/quality/programs\n"), err
}
