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
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
)

// Opener opens the store at a target: a file or a URL.
type Opener func(ctx context.Context, target string) (store.Store, error)

const (
	killTarget = "PDPP_STORETEST_KILL_TARGET"
	killRound  = "PDPP_STORETEST_KILL_ROUND"
)

// Main runs the tests of a package, or the child process that RunKill, RunDeletionKill or RunUpgrade kills.
func Main(m *testing.M, open Opener, migrate Migrator) {
	if target := os.Getenv(killTarget); target != "" {
		play := commitUntilKilled
		switch round := os.Getenv(killRound); {
		case round == deleting:
			play = deleteUntilKilled
		case strings.HasPrefix(round, migrating):
			play = func(target string, _ Opener) error { return migrateUntilKilled(target, round, migrate) }
		}
		fmt.Fprintln(os.Stderr, play(target, open))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// RunKill repeatedly kills a process that commits slices and builds and drops indexes. Every reported commit must be
// there completely, and nothing of any other. No partial index may change a result, or stay.
func RunKill(t *testing.T, target string, open Opener, rounds int) {
	t.Attr("spec", "PB-A07")
	s, err := open(t.Context(), target)
	ok(t, err)
	connect(t, s, "c")
	marked := fillIndexed(t, s)
	ok(t, s.Close())
	kept := 0
	for round := range rounds {
		reported := killOne(t, target, round)
		s, err := open(t.Context(), target)
		ok(t, err)
		// The takeover waits for what the killed process left in the server.
		l := start(t, s, "c", fmt.Sprint("check-", round), roundTime(round).Add(time.Hour), titles)
		n := WholeSlices(t, s)
		if n < reported || n < kept {
			t.Fatalf("round %d: %d slices are stored, %d were reported, %d had been there before", round, n, reported, kept)
		}
		kept = n
		same(t, listed(t, s, marked), []string{"k3"})
		finish(t, s, l, roundTime(round).Add(time.Hour))
		if round == rounds-1 {
			// Both streams get theirs, as soon as the server has ended the dead process's work.
			made := 0
			for try := 0; made != 6 && try < 1000; try++ {
				index(t, s, 1)
				made = index(t, s, impossibleSize)
			}
			same(t, made, 6)
		}
		ok(t, s.Close())
	}
	t.Logf("%d kills, %d slices, none lost, none in part", rounds, kept)
}

// impossibleSize is a size that no stream has.
const impossibleSize = 1 << 40

// fillIndexed creates a stream with three fields to index, and returns a query that matches one of its records.
func fillIndexed(t *testing.T, s store.Store) store.RecordQuery {
	t.Helper()
	_, err := s.PutManifest(t.Context(), "example", []byte(querying), Now)
	ok(t, err)
	l := begin(t, s, "indexed", "run-indexed")
	records := make([]slice.Record, 50)
	for i := range records {
		records[i] = slice.Record{Stream: Stream, Key: fmt.Sprint("k", i), EmittedAt: "x",
			Data: fmt.Appendf(nil, `{%q:"t%d","number":%d,"time":"2026-01-02"}`, textField, i, i)}
	}
	put(t, s, l, records...)
	finish(t, s, l, Now)
	return store.RecordQuery{AccessFilter: store.AccessFilter{ConnectionID: "indexed", Stream: Stream},
		Where:   []store.FieldValue{{Field: textField, Value: "t3"}},
		Compare: []store.Comparison{{Field: numberField, Kind: manifest.ValueNumber, Op: manifest.RangeLT, Value: "4"}}}
}

// indexUntilKilled builds all indexes and drops them.
func indexUntilKilled(ctx context.Context, s store.Store) error {
	for above := int64(1); ; above = impossibleSize + 1 - above {
		for done := false; !done; {
			var err error
			if done, err = s.IndexFields(ctx, above, Now); err != nil {
				return err
			}
		}
	}
}

// roundTime is late enough for every lease of earlier rounds to have expired.
func roundTime(round int) time.Time { return Now.AddDate(0, 0, round) }

// killOne starts a child, kills it some time after a report, and returns its last report.
func killOne(t *testing.T, target string, round int) (reported int) {
	t.Helper()
	return killAfter(t, target, strconv.Itoa(round), rand.IntN(6)) // none: it dies while it opens
}

// killAfter kills a child some time after the given number of reports.
func killAfter(t *testing.T, target, round string, reports int) (reported int) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), killTarget+"="+target, killRound+"="+round, "GORACE=atexit_sleep_ms=0")
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	ok(t, err)
	ok(t, child.Start())
	lines := bufio.NewScanner(out)
	for range reports {
		if !lines.Scan() {
			t.Fatalf("round %s: the child ended by itself: %v", round, child.Wait())
		}
		reported, err = strconv.Atoi(lines.Text())
		ok(t, err)
	}
	<-time.After(time.Duration(rand.IntN(15_000)) * time.Microsecond)
	ok(t, child.Process.Kill())
	for lines.Scan() { // reports from before the kill count
		if n, err := strconv.Atoi(lines.Text()); err == nil {
			reported = n
		}
	}
	var died *exec.ExitError
	if err := child.Wait(); !errors.As(err, &died) || died.Exited() {
		t.Fatalf("round %s: the child ended by itself: %v", round, err)
	}
	return reported
}

// commitUntilKilled continues after the last stored slice until something fails.
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
	broken := make(chan error, 1)
	go func() { broken <- indexUntilKilled(ctx, s) }()
	for {
		select {
		case err := <-broken:
			return fmt.Errorf("index fields: %w", err)
		default:
		}
		n++
		if _, err := s.CommitSlice(ctx, l, NumberedSlice(n), roundTime(round)); err != nil {
			return err
		}
		fmt.Println(n)
	}
}
