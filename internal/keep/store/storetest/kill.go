package storetest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"pdpp/internal/keep/store"
)

// Opener opens the store that a target names: a file or a URL.
type Opener func(ctx context.Context, target string) (store.Store, error)

const (
	killTarget = "PDPP_STORETEST_KILL_TARGET"
	killRound  = "PDPP_STORETEST_KILL_ROUND"
)

// Main runs the tests of a package, or plays the child that RunKill kills.
func Main(m *testing.M, open Opener) {
	if target := os.Getenv(killTarget); target != "" {
		fmt.Fprintln(os.Stderr, commitUntilKilled(target, open))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// RunKill kills a process that commits slices, again and again, and looks at
// what it left behind: every commit that was reported is there, whole, and
// nothing of any other.
func RunKill(t *testing.T, target string, open Opener, rounds int) {
	t.Attr("spec", "PB-A07")
	s, err := open(t.Context(), target)
	ok(t, err)
	connect(t, s, "c")
	ok(t, s.Close())
	kept := 0
	for round := range rounds {
		reported := killOne(t, target, round)
		s, err := open(t.Context(), target)
		ok(t, err)
		// Taking the connection over waits for whatever the dead process still had in the server.
		l := start(t, s, "c", fmt.Sprint("check-", round), roundTime(round).Add(time.Hour), titles)
		n := WholeSlices(t, s)
		if n < reported || n < kept {
			t.Fatalf("round %d: %d slices are stored, %d were reported, %d had been there before", round, n, reported, kept)
		}
		kept = n
		finish(t, s, l, roundTime(round).Add(time.Hour))
		ok(t, s.Close())
	}
	t.Logf("%d kills, %d slices, none lost, none in part", rounds, kept)
}

// roundTime is late enough for every lease of earlier rounds to have expired.
func roundTime(round int) time.Time { return Now.AddDate(0, 0, round) }

// killOne starts a child, kills it some time after some report of it, and gives its last report.
func killOne(t *testing.T, target string, round int) (reported int) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), killTarget+"="+target, killRound+"="+strconv.Itoa(round), "GORACE=atexit_sleep_ms=0")
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	ok(t, err)
	ok(t, child.Start())
	lines := bufio.NewScanner(out)
	for range rand.IntN(6) { // none: it dies while it opens
		if !lines.Scan() {
			t.Fatalf("round %d: the child ended by itself: %v", round, child.Wait())
		}
		reported, err = strconv.Atoi(lines.Text())
		ok(t, err)
	}
	<-time.After(time.Duration(rand.IntN(15_000)) * time.Microsecond)
	ok(t, child.Process.Kill())
	for lines.Scan() { // what it said before it died counts
		if n, err := strconv.Atoi(lines.Text()); err == nil {
			reported = n
		}
	}
	var died *exec.ExitError
	if err := child.Wait(); !errors.As(err, &died) || died.Exited() {
		t.Fatalf("round %d: the child ended by itself: %v", round, err)
	}
	return reported
}

// commitUntilKilled goes on after the last slice that is stored. It returns only when something fails.
func commitUntilKilled(target string, open Opener) error {
	ctx := context.Background()
	round, err := strconv.Atoi(os.Getenv(killRound))
	if err != nil {
		return err
	}
	s, err := open(ctx, target)
	if err != nil {
		return err
	}
	l, err := s.StartRun(ctx, runStart("c", fmt.Sprint("child-", round), titles), roundTime(round))
	if err != nil {
		return err
	}
	n := 0
	bookmarks, err := s.Cursors(ctx, "c", "")
	if err != nil {
		return err
	}
	if len(bookmarks) > 0 {
		if n, err = strconv.Atoi(string(bookmarks[0].Cursor)); err != nil {
			return err
		}
	}
	for {
		n++
		if _, err := s.CommitSlice(ctx, l, NumberedSlice(n), roundTime(round)); err != nil {
			return err
		}
		fmt.Println(n)
	}
}
