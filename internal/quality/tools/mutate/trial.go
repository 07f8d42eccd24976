package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// outcome is what became of a fault.
type outcome string

const (
	killed      outcome = "killed"
	survived    outcome = "survived"
	unreached   outcome = "unreached" // no test goes there: survived as well
	notCompiled outcome = "not compiled"
)

// suite is the tests of one package.
type suite struct {
	dir   string
	tests []test
}

// trials plants faults, one at a time.
type trials struct {
	work    string
	watched []string // the packages with faults
	whole   bool     // run all tests of each package, without measuring what they reach
	children
	suites map[string]*suite // what was measured, by folder
}

// tryRoom plants faults of the sample until enough of them compiled.
func (t *trials) tryRoom(ctx context.Context, r room, sample []fault, most int) ([]result, error) {
	var out []result
	for _, f := range sample {
		if most == 0 {
			break
		}
		res, err := t.try(ctx, f, r.Proofs)
		if err != nil {
			return out, err
		}
		if res.Outcome != notCompiled {
			most--
		}
		fmt.Fprintf(os.Stderr, "%-12s %s %s %s\n", res.Outcome, f.ID, f, res.By)
		out = append(out, res)
	}
	return out, nil
}

// try plants one fault and runs the tests that reach it: those of its own package, then
// those that prove it as shipped.
func (t *trials) try(ctx context.Context, f fault, proofs []string) (result, error) {
	res := result{fault: f, Outcome: notCompiled}
	overlay, err := t.overlay(f)
	if err != nil {
		return res, err
	}
	build := exec.CommandContext(ctx, "go", "build", "-overlay="+overlay, "-o", os.DevNull, "./"+filepath.Dir(f.File))
	if err := build.Run(); err != nil {
		return res, ctx.Err()
	}
	res.Outcome = unreached
	own := filepath.ToSlash(filepath.Dir(f.File))
	suites := []string{own}
	for _, dir := range slices.Concat(users[own], proofs) {
		if !slices.Contains(suites, dir) {
			suites = append(suites, dir)
		}
	}
	if t.whole {
		res.Outcome = survived
		for _, dir := range suites {
			by, err := t.tryWhole(ctx, dir, overlay)
			if by != "" || err != nil {
				res.Outcome, res.By = killed, dir+" "+by
				return res, err
			}
		}
		return res, nil
	}
	for _, dir := range suites {
		s, err := t.suite(ctx, dir)
		if err != nil {
			return res, err
		}
		chosen := s.reaching(f)
		if len(chosen) == 0 {
			continue
		}
		res.Outcome = survived
		faulty := "" // programs that do not go through the fault need none
		if slices.ContainsFunc(chosen, func(t test) bool { return reaches(t.started, f) }) {
			faulty = overlay
		}
		programs, err := t.build(ctx, t.work, faulty)
		if err != nil {
			return res, err
		}
		by, err := t.runTests(ctx, s.dir, overlay, programs, chosen)
		if err != nil {
			return res, err
		}
		if by != "" {
			res.Outcome, res.By = killed, dir+" "+by
			return res, nil
		}
	}
	return res, nil
}

// overlay writes the file with the fault and the overlay that puts it in place.
func (t *trials) overlay(f fault) (string, error) {
	source, err := os.ReadFile(f.File)
	if err != nil {
		return "", err
	}
	return overlayOf(f.File, f.apply(source), filepath.Join(t.work, "fault"))
}

// overlayOf writes another content of a file, and the overlay that puts it in place.
func overlayOf(file string, content []byte, name string) (string, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(name+".go", content, 0o644); err != nil {
		return "", err
	}
	text, err := json.Marshal(map[string]map[string]string{"Replace": {path: name + ".go"}})
	if err != nil {
		return "", err
	}
	return name + ".json", os.WriteFile(name+".json", text, 0o644)
}

// suite measures the tests of a package once.
func (t *trials) suite(ctx context.Context, dir string) (*suite, error) {
	if s, ok := t.suites[dir]; ok {
		return s, nil
	}
	found, err := tests(ctx, dir, t.watched, t.work, &t.children)
	if err != nil {
		return nil, err
	}
	s := &suite{dir: dir, tests: found}
	t.suites[dir] = s
	return s, nil
}

// reaching returns the tests that go through the faulty line, the quickest first.
func (s *suite) reaching(f fault) []test {
	var out []test
	for _, t := range s.tests {
		if reaches(t.blocks, f) || reaches(t.started, f) {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b test) int { return cmp.Compare(a.Took, b.Took) })
	return out
}

const doNotCompile = "the tests do not compile: "

// runTests returns the test that fails with the fault and fails again when it is repeated, or ""
// if there is none.
func (t *trials) runTests(ctx context.Context, dir, overlay string, programs []string, chosen []test) (string, error) {
	program := filepath.Join(t.work, "faulty.test")
	args := []string{"test", "-c", "-overlay=" + overlay, "-vet=off", "-ldflags=-s -w", "-o", program, "./" + dir}
	if out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput(); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return doNotCompile + firstLine(out), nil
	}
	defer os.Remove(program)
	for _, group := range grouped(chosen) {
		name, failed := t.fails(ctx, dir, overlay, program, programs, group)
		if failed {
			if again, still := t.fails(ctx, dir, overlay, program, programs,
				[]test{{Pattern: name, Took: longest(group)}}); still {
				return again, nil
			}
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
	}
	return "", nil
}

// grouped joins tests that one call of the program can run: those of a pattern without
// sub-tests. Each script is a call of its own.
func grouped(chosen []test) [][]test {
	var plain []test
	var out [][]test
	for _, c := range chosen {
		if strings.Contains(c.Pattern, "/") {
			out = append(out, []test{c})
		} else {
			plain = append(plain, c)
		}
	}
	if len(plain) > 0 {
		out = append([][]test{plain}, out...)
	}
	return out
}

var failedLine = regexp.MustCompile(`(?m)^--- FAIL: (\S+)|^\s+(Test\S+) \([\d.hms]+\)$`)

// fails runs a group of tests until one fails, and returns the pattern that runs the failed test
// again. A test that takes far too long counts as failed. The limit is 20 seconds, plus twice the
// group's usual time, plus ten times its longest test.
func (t *trials) fails(ctx context.Context, dir, overlay, program string, programs []string, group []test) (string,
	bool) {
	patterns := make([]string, len(group))
	var took time.Duration
	for i, g := range group {
		patterns[i] = g.Pattern
		took += g.Took
	}
	pattern := strings.Join(patterns, "|")
	limit := 20*time.Second + 2*took + 10*longest(group)
	ctx, cancel := context.WithTimeout(ctx, limit+10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "-test.run", pattern, "-test.skip", group[0].skip, "-test.failfast",
		"-test.timeout="+limit.String())
	cmd.Dir, cmd.Env = dir, append(append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -overlay="+overlay), programs...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &out, time.Second
	err := cmd.Run()
	if err == nil || errors.Is(err, exec.ErrWaitDelay) {
		return "", false
	}
	if m := failedLine.FindSubmatch(out.Bytes()); m != nil && (len(group) > 1 || pattern == everyTest) {
		return "^" + cmp.Or(string(m[1]), string(m[2])) + "$", true
	}
	return pattern, true
}

func longest(group []test) time.Duration {
	var most time.Duration
	for _, t := range group {
		most = max(most, t.Took)
	}
	return most
}

func firstLine(out []byte) string {
	for line := range strings.Lines(string(out)) {
		if !strings.HasPrefix(line, "#") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}
