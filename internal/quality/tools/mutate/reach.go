package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// test is one test of a package, as -test.run names it, and what it reaches.
type test struct {
	Pattern string
	skip    string // those of the pattern that do not run
	Took    time.Duration
	blocks  map[string][]block // by file from the module's root
	started map[string][]block // those that its programs went through
}

// block is a stretch of lines that a test went through.
type block struct{ from, to int }

// reaches reports whether a test, or one of the programs that it starts, goes through the faulty line. Code
// outside of functions is not counted: there a test that reaches the same file is enough.
func reaches(blocks map[string][]block, f fault) bool {
	return f.Func == "" && len(blocks[f.File]) > 0 ||
		slices.ContainsFunc(blocks[f.File], func(b block) bool { return b.from <= f.Line && f.Line <= b.to })
}

// tests measures what each test of a package reaches within the watched packages, itself and
// by the programs that it starts. It runs them one by one. One that fails is left out, and so
// are those of an empty package.
func tests(ctx context.Context, dir string, watched []string, work string, c *children) ([]test, error) {
	program := filepath.Join(work, "reach.test")
	overlay, err := unconfined(work)
	if err != nil {
		return nil, err
	}
	args := []string{"test", "-c", "-overlay=" + overlay, "-cover", "-covermode=set", "-coverpkg=" +
		strings.Join(prefixed(watched), ","), "-vet=off", "-ldflags=-s -w", "-o", program, "./" + dir}
	if out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the tests of %s: %w\n%s", dir, err, out)
	}
	if _, err := os.Stat(program); err != nil {
		return nil, nil // no test files
	}
	defer os.Remove(program)
	patterns, err := patterns(ctx, dir, program)
	if err != nil {
		return nil, err
	}
	var found []test
	for i, p := range patterns {
		env, err := c.count(ctx, work, watched)
		if err != nil {
			return nil, err
		}
		t, ok, err := measure(ctx, dir, program, p, filepath.Join(work, "reach", strconv.Itoa(i)), c.counts, env)
		if err != nil {
			return nil, err
		}
		if !ok {
			fmt.Fprintf(os.Stderr, "left out, since it fails without any fault: %s %s\n", dir, p)
			continue
		}
		found = append(found, t)
	}
	return found, nil
}

const everyTest = "^(Test|Fuzz)"

// patterns lists the tests of a program; scripts, which are many tests in one, singly.
func patterns(ctx context.Context, dir, program string) ([]string, error) {
	list := exec.CommandContext(ctx, program, "-test.list", everyTest)
	list.Dir = dir
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("list the tests of %s: %w", dir, err)
	}
	var all []string
	for _, name := range strings.Fields(string(out)) {
		scripts, _ := filepath.Glob(filepath.Join(dir, "testdata", "*.txtar"))
		if name != "TestScripts" || len(scripts) == 0 {
			all = append(all, "^"+name+"$")
			continue
		}
		for _, s := range scripts {
			all = append(all, "^"+name+"$/^"+strings.TrimSuffix(filepath.Base(s), ".txtar")+"$")
		}
	}
	return all, nil
}

func measure(ctx context.Context, dir, program, pattern, counts, children string, env []string) (test, bool, error) {
	if err := os.MkdirAll(counts, 0o755); err != nil {
		return test{}, false, err
	}
	defer os.RemoveAll(counts)
	began := time.Now()
	cmd := exec.CommandContext(ctx, program, "-test.run", pattern, "-test.timeout=5m", "-test.gocoverdir="+counts)
	cmd.Dir, cmd.Env = dir, append(append(os.Environ(), "GOCOVERDIR="+counts), env...)
	failed := cmd.Run() != nil
	if ctx.Err() != nil {
		return test{}, false, ctx.Err()
	}
	if failed {
		return test{}, false, nil
	}
	t := test{Pattern: pattern, Took: time.Since(began), blocks: map[string][]block{}, started: map[string][]block{}}
	for from, blocks := range map[string]map[string][]block{counts: t.blocks, children: t.started} {
		text, err := profile(ctx, from, counts+".profile")
		if err != nil {
			return test{}, false, fmt.Errorf("read what %s reached: %w", pattern, err)
		}
		if err := addProfile(blocks, text); err != nil {
			return test{}, false, err
		}
	}
	return t, true, nil
}

// profile returns what one kind of program left in a folder, as text; nothing when there is none.
func profile(ctx context.Context, counts, to string) ([]byte, error) {
	if some, _ := os.ReadDir(counts); len(some) == 0 {
		return nil, nil
	}
	defer os.Remove(to)
	if out, err := exec.CommandContext(ctx, "go", "tool", "covdata", "textfmt", "-i="+counts,
		"-o="+to).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	return os.ReadFile(to)
}

var (
	profileLine = regexp.MustCompile(`^(.+):(\d+)\.\d+,(\d+)\.\d+ \d+ (\d+)$`)
	moduleLine  = regexp.MustCompile(`(?m)^module (\S+)$`)
)

// addProfile reads the stretches that were gone through from a profile. Profiles name files by their import paths,
// faults by their paths below go.mod.
func addProfile(blocks map[string][]block, text []byte) error {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		return err
	}
	module := moduleLine.FindSubmatch(mod)
	if module == nil {
		return errors.New("go.mod names no module")
	}
	for in := bufio.NewScanner(bytes.NewReader(text)); in.Scan(); {
		m := profileLine.FindStringSubmatch(in.Text())
		if m == nil || m[4] == "0" {
			continue
		}
		from, _ := strconv.Atoi(m[2])
		to, _ := strconv.Atoi(m[3])
		file := strings.TrimPrefix(m[1], string(module[1])+"/")
		blocks[file] = append(blocks[file], block{from, to})
	}
	return nil
}

func prefixed(dirs []string) []string {
	out := make([]string, len(dirs))
	for i, d := range dirs {
		out[i] = "./" + d
	}
	return out
}
