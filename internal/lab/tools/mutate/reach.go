package main

import (
	"bufio"
	"bytes"
	"context"
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
	Took    time.Duration
	blocks  map[string][]block // by file from the module's root
}

// block is a stretch of lines that a test went through.
type block struct{ from, to int }

func (t *test) reaches(file string, line int) bool {
	return slices.ContainsFunc(t.blocks[file], func(b block) bool { return b.from <= line && line <= b.to })
}

// tests measures what each test of a package reaches within the watched packages. It
// runs each alone, with the programs that it starts. One that fails is left out, and so
// are those of an empty package.
func tests(ctx context.Context, dir string, watched []string, work string) ([]test, error) {
	program := filepath.Join(work, "reach.test")
	args := []string{"test", "-c", "-cover", "-covermode=set", "-coverpkg=" + strings.Join(prefixed(watched), ","), "-vet=off", "-ldflags=-s -w", "-o", program, "./" + dir}
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
		t, ok, err := measure(ctx, dir, program, p, filepath.Join(work, "reach", strconv.Itoa(i)))
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

// patterns lists the tests of a program; scripts, which are many tests in one, singly.
func patterns(ctx context.Context, dir, program string) ([]string, error) {
	list := exec.CommandContext(ctx, program, "-test.list", "^Test")
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

func measure(ctx context.Context, dir, program, pattern, counts string) (test, bool, error) {
	if err := os.MkdirAll(counts, 0o755); err != nil {
		return test{}, false, err
	}
	defer os.RemoveAll(counts)
	began := time.Now()
	cmd := exec.CommandContext(ctx, program, "-test.run", pattern, "-test.timeout=5m", "-test.gocoverdir="+counts)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOCOVERDIR="+counts)
	failed := cmd.Run() != nil
	if ctx.Err() != nil {
		return test{}, false, ctx.Err()
	}
	if failed {
		return test{}, false, nil
	}
	t := test{Pattern: pattern, Took: time.Since(began)}
	profile := filepath.Join(counts, "profile")
	if out, err := exec.CommandContext(ctx, "go", "tool", "covdata", "textfmt", "-i="+counts, "-o="+profile).CombinedOutput(); err != nil {
		return test{}, false, fmt.Errorf("read what %s reached: %w\n%s", pattern, err, out)
	}
	text, err := os.ReadFile(profile)
	if err != nil {
		return test{}, false, err
	}
	t.blocks = parseProfile(text)
	return t, true, nil
}

var profileLine = regexp.MustCompile(`^[^/]+/(.+):(\d+)\.\d+,(\d+)\.\d+ \d+ (\d+)$`)

// parseProfile gives the stretches that were gone through, by file.
func parseProfile(text []byte) map[string][]block {
	out := map[string][]block{}
	for in := bufio.NewScanner(bytes.NewReader(text)); in.Scan(); {
		m := profileLine.FindStringSubmatch(in.Text())
		if m == nil || m[4] == "0" {
			continue
		}
		from, _ := strconv.Atoi(m[2])
		to, _ := strconv.Atoi(m[3])
		out[m[1]] = append(out[m[1]], block{from, to})
	}
	return out
}

func prefixed(dirs []string) []string {
	out := make([]string, len(dirs))
	for i, d := range dirs {
		out[i] = "./" + d
	}
	return out
}
