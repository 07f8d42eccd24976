package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// summarize runs the program over events and returns what it printed.
func summarize(t *testing.T, events ...string) (string, bool) {
	t.Helper()
	meanwhile, end, ok := parts(t, events...)
	return meanwhile + end, ok
}

// parts returns separately what was printed while the tests ran and what was printed at the end.
func parts(t *testing.T, events ...string) (meanwhile, end string, ok bool) {
	t.Helper()
	var before, after strings.Builder
	s := newSummary()
	for _, line := range events {
		from := strings.Count(line, second) // see TestPackageInTwoParts
		s.take(from, []byte(strings.TrimPrefix(line, second)+"\n"), &before)
	}
	ok = s.report(&after)
	return before.String(), after.String(), ok
}

// wantEnd checks the last line and every fragment that must be seen before it.
func wantEnd(t *testing.T, out, last string, fragments ...string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if got := lines[len(lines)-1]; got != last {
		t.Errorf("last line is %q, want %q", got, last)
	}
	for _, f := range fragments {
		if !strings.Contains(out, f) {
			t.Errorf("output lacks %q:\n%s", f, out)
		}
	}
}

const (
	passA = `{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0.1}`
	passP = `{"Action":"pass","Package":"p","Elapsed":1.5}`
	failP = `{"Action":"fail","Package":"p","Elapsed":1.5}`
	runD  = `{"Action":"run","Package":"p","Test":"TestD"}`
	runE  = `{"Action":"run","Package":"p","Test":"TestE"}`

	second = "second " // marks a line of a second go test
)

func TestAllPass(t *testing.T) {
	t.Parallel()
	out, ok := summarize(t,
		`{"Action":"start","Package":"p"}`,
		`{"Action":"output","Package":"p","Test":"TestA","Output":"a noisy line\n"}`,
		`{"Action":"attr","Package":"p","Test":"TestA","Key":"spec","Value":"X-1"}`,
		passA, passP,
		`{"Action":"skip","Package":"q","Elapsed":0}`)
	wantEnd(t, out, "1 passed, 0 failed, 0 skipped", "ok    p", "1.5s  1 tests", "no tests")
	if !ok || strings.Contains(out, "noisy") {
		t.Errorf("ok = %t, want true and no test output:\n%s", ok, out)
	}
}

func TestResultIsShownWhenItHolds(t *testing.T) {
	t.Parallel()
	figure := `{"Action":"attr","Package":"p","Test":"TestA","Key":"result","Value":"12 of 12"}`
	out, ok := summarize(t, figure, passA, passP)
	wantEnd(t, out, "1 passed, 0 failed, 0 skipped", "TestA: 12 of 12")
	if !ok {
		t.Errorf("ok = false:\n%s", out)
	}
	out, _ = summarize(t, figure, `{"Action":"fail","Package":"p","Test":"TestA","Elapsed":0.1}`, failP)
	if strings.Contains(out, "12 of 12") {
		t.Errorf("a failed test shows its result:\n%s", out)
	}
}

// A failure is printed as soon as its package has ended, in case the end is never shown. It is
// printed again at the end.
func TestFailureShowsItsOutput(t *testing.T) {
	t.Parallel()
	meanwhile, end, ok := parts(t,
		`{"Action":"output","Package":"p","Test":"TestB","Output":"=== RUN   TestB\n"}`,
		`{"Action":"output","Package":"p","Test":"TestB","Output":"    b_test.go:1: got 1, want 2\n"}`,
		`{"Action":"fail","Package":"p","Test":"TestB","Elapsed":0.25}`,
		passA, failP)
	wantEnd(t, end, "1 passed, 1 failed, 0 skipped", "FAIL  p TestB (0.25s)", "got 1, want 2")
	wantEnd(t, meanwhile, "          b_test.go:1: got 1, want 2", "FAIL  p TestB (0.25s)")
	if ok || strings.Contains(meanwhile+end, "=== RUN") {
		t.Errorf("ok = %t, want false and no announcements:\n%s%s", ok, meanwhile, end)
	}
}

// The signal that ends the tests reaches the whole process group. The summary still prints their
// output until then.
func TestSignalsLeaveTheSummary(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "testsummary")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	cmd := exec.Command(program)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(in, `{"Action":"output","Package":"q","Test":"TestB","Output":"half of it\n"}`)
	fmt.Fprintln(in, passA)
	fmt.Fprintln(in, passP)
	lines := bufio.NewReader(out)
	first, err := lines.ReadString('\n') // it is at work
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if err := cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(lines)
	if err != nil {
		t.Fatal(err)
	}
	wantEnd(t, first+string(rest), "1 passed, 1 failed, 0 skipped", "ok    p",
		"FAIL  q TestB did not finish: go test ended before it", "half of it")
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("it ended with %v, want exit code 1", err)
	}
}

func TestSkipShowsItsReason(t *testing.T) {
	t.Parallel()
	out, ok := summarize(t,
		`{"Action":"output","Package":"p","Test":"TestC","Output":"    c_test.go:1: no database\n"}`,
		`{"Action":"skip","Package":"p","Test":"TestC"}`, passP)
	wantEnd(t, out, "0 passed, 0 failed, 1 skipped", "SKIP  p TestC: c_test.go:1: no database")
	if !ok {
		t.Error("a skipped test failed the run")
	}
}

func TestFailuresWithoutAFailedTest(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		events []string
		last   string
		want   string
	}{
		"does not build": {[]string{
			`{"ImportPath":"p [p.test]","Action":"build-output","Output":"p.go:3: undefined: x\n"}`,
			`{"ImportPath":"p [p.test]","Action":"build-fail"}`,
			`{"Action":"fail","Package":"p","Elapsed":0,"FailedBuild":"p [p.test]"}`,
		}, "0 passed, 1 failed, 0 skipped", "undefined: x"},
		"ends badly": {[]string{
			passA, `{"Action":"output","Package":"p","Output":"found unexpected goroutines\n"}`, failP,
		}, "1 passed, 1 failed, 0 skipped", "unexpected goroutines"},
		"panics in a test": {[]string{
			runD, runE, `{"Action":"output","Package":"p","Test":"TestD","Output":"panic: boom\n"}`, failP,
		}, "0 passed, 2 failed, 0 skipped", "FAIL  p TestD panicked: boom"},
		"beside one that panics": {[]string{
			runD, runE, `{"Action":"output","Package":"p","Test":"TestD","Output":"panic: boom\n"}`, failP,
		}, "0 passed, 2 failed, 0 skipped", "FAIL  p TestE did not finish: TestD panicked"},
		"takes too long": {[]string{
			runD, `{"Action":"output","Package":"p","Test":"TestD","Output":"panic: test timed out after 20m0s\n"}`, failP,
		}, "0 passed, 1 failed, 0 skipped", "FAIL  p TestD did not finish: the package took longer than 20m0s"},
		"is killed": {[]string{runD, `{"Action":"output","Package":"p","Output":"signal: killed\n"}`, failP},
			"0 passed, 1 failed, 0 skipped", "FAIL  p TestD did not finish: the process was ended by a signal: killed"},
		"crashes": {[]string{runD,
			`{"Action":"output","Package":"p","Test":"TestD","Output":"fatal error: all goroutines are asleep\n"}`, failP},
			"0 passed, 1 failed, 0 skipped",
			"FAIL  p TestD did not finish: the process crashed: fatal error: all goroutines are asleep"},
		"exits": {[]string{runD, `{"Action":"output","Package":"p","Output":"exit status 3\n"}`, failP},
			"0 passed, 1 failed, 0 skipped", "FAIL  p TestD did not finish: the process ended with exit status 3"},
		"is killed before its tests": {[]string{`{"Action":"output","Package":"p","Output":"signal: killed\n"}`, failP},
			"0 passed, 1 failed, 0 skipped", "FAIL  p failed: the process was ended by a signal: killed"},
		"is cut off": {[]string{`{"Action":"start","Package":"p"}`, passA, `{"Action":"outp`},
			"1 passed, 1 failed, 0 skipped", "FAIL  p did not finish: go test ended before it"},
		"never started": {nil, "0 passed, 0 failed, 0 skipped", "no test results"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, ok := summarize(t, c.events...)
			wantEnd(t, out, c.last, c.want)
			if ok {
				t.Errorf("the run counts as good:\n%s", out)
			}
		})
	}
}

// A package may run in two processes, each with a part of its tests: one that crashes is not
// made good by the other.
func TestHalfOfAPackageFails(t *testing.T) {
	t.Parallel()
	out, ok := summarize(t, passA, `{"Action":"output","Package":"p","Output":"panic: half\n"}`, failP, passP)
	if ok {
		t.Error("all is well")
	}
	wantEnd(t, out, "1 passed, 1 failed, 0 skipped", "panic: half")
}

// Tests that another process still runs have finished neither well nor badly when one fails.
func TestPackageInTwoParts(t *testing.T) {
	t.Parallel()
	meanwhile, end, _ := parts(t, second+runD, `{"Action":"fail","Package":"p","Test":"TestA","Elapsed":0.1}`, failP,
		second+`{"Action":"pass","Package":"p","Test":"TestD","Elapsed":0.1}`, second+passP)
	wantEnd(t, end, "1 passed, 1 failed, 0 skipped", "FAIL  p TestA")
	if strings.Contains(meanwhile+end, "TestD") || !strings.Contains(meanwhile, "FAIL  p TestA") {
		t.Errorf("of a test that went on and passed it is said:\n%s%s", meanwhile, end)
	}
}

func TestOneBrokenBuildIsShownOnce(t *testing.T) {
	t.Parallel()
	meanwhile, out, _ := parts(t,
		`{"ImportPath":"x","Action":"build-output","Output":"x.go:3: undefined: y\n"}`,
		`{"Action":"fail","Package":"p","FailedBuild":"x"}`,
		`{"Action":"fail","Package":"q","FailedBuild":"x"}`)
	wantEnd(t, out, "0 passed, 2 failed, 0 skipped", "q needs x, which does not build")
	for _, part := range []string{meanwhile, out} {
		if n := strings.Count(part, "undefined: y"); n != 1 {
			t.Errorf("compiler output is shown %d times, want once:\n%s", n, part)
		}
	}
}

func TestLongOutputIsShortened(t *testing.T) {
	t.Parallel()
	_, out, _ := parts(t,
		`{"Action":"output","Package":"p","Test":"TestE","Output":"begin `+strings.Repeat("x", 3*maxOutput)+` end\n"}`,
		`{"Action":"fail","Package":"p","Test":"TestE"}`, failP)
	wantEnd(t, out, "0 passed, 1 failed, 0 skipped", "begin", "shortened", "end")
	if len(out) > 2*maxOutput {
		t.Errorf("%d bytes printed", len(out))
	}
}
