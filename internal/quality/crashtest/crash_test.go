package crashtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/providersim"
)

// kills is how many SIGKILLs each database takes; make chaos asks for seven times as many. Half
// of them fall on commit boundaries, half on random moments.
var kills = 32

// killsPerStore is how often one store is hit before a run may finish and the
// comparison is made; then a fresh store and provider follow.
const killsPerStore = 8

func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == visitor:
		syscall.Exit(playVisitor())
	case len(os.Args) > 2 && os.Args[1] == shelf:
		syscall.Exit(playShelf(os.Args[2]))
	case os.Getenv(roleVariable) == "shelf worker":
		os.Exit(playShelfWorker())
	case os.Getenv(roleVariable) == "browser worker":
		os.Exit(playBrowserWorker())
	case os.Getenv(roleVariable) == receiver:
		os.Exit(playReceiver(os.Getenv(specVariable)))
	case os.Getenv(roleVariable) == "runner":
		os.Exit(playRunner())
	}
	os.Exit(m.Run())
}

// TestKill is the kill test. The summary of the test command prints its count;
// a failed test prints none.
//
//pdpp:tier unraced
func TestKill(t *testing.T) {
	if os.Getenv("PDPP_CHAOS_MINUTES") != "" {
		kills *= 7
	}
	target := connectortest.LumenTarget(t, "example")
	runner, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, database := range []string{"sqlite", "postgres"} {
		t.Run(database, func(t *testing.T) {
			t.Parallel()
			t.Attr("spec", "PB-08")
			t.Attr("spec", "PB-A07")
			total := tally{victims: map[string]int{}}
			for seed := uint64(0); total.kills() < kills && seed < uint64(kills) && !t.Failed(); seed++ {
				t.Run(fmt.Sprint("world ", seed), func(t *testing.T) {
					w := newWorld(t, database, runner, target, seed)
					w.suffer(t, &total)
					w.recover(t)
				})
			}
			if total.kills() < kills {
				t.Fatalf("%d SIGKILLs hit, want %d", total.kills(), kills)
			}
			t.Attr("result", fmt.Sprintf("%d SIGKILLs (%d of the runner, %d of the connector, %d of both; %d at a commit "+
				"boundary, %d at random moments): ground truth == stored + declared missing, no record twice, no cursor ahead of "+
				"its records",
				total.kills(), total.victims["runner"], total.victims["connector"], total.victims["both"], total.boundary,
				total.random))
		})
	}
}

type tally struct {
	victims          map[string]int
	boundary, random int
	attempts         int // runs that were started to be killed
}

func (c *tally) kills() int { return c.boundary + c.random }

// suffer starts runs and kills each of them somewhere, changing the provider's
// data in between. A run that finishes before its kill does not count.
func (w *world) suffer(t *testing.T, total *tally) {
	for range killsPerStore {
		n := total.attempts
		total.attempts++
		k := plan{Victim: []string{"runner", "connector", "both"}[n%3]}
		if n%2 == 0 {
			// Every boundary in turn: before the first commit, after it, before the second, ...
			k.Commit, k.After = 1+(n/4)%8, n/2%2 == 1
		} else {
			k.Requests = 1 + w.rand.IntN(12)
			k.Delay = time.Duration(w.rand.IntN(20_000)) * time.Microsecond
		}
		if !w.runAndKill(t, k) {
			w.change(t) // the run was complete: add work for the next one
			continue
		}
		total.victims[k.Victim]++
		if k.Commit > 0 {
			total.boundary++
		} else {
			total.random++
		}
		w.bed.VerifyNothingInvented(t)
		if w.rand.IntN(3) == 0 {
			w.change(t)
		}
	}
}

// recover lets one run finish and compares.
func (w *world) recover(t *testing.T) {
	t.Helper()
	w.bed.Clock += time.Hour // the lease of a killed runner has run out
	w.bed.Succeed(t)
	w.bed.VerifyComplete(t)
	// An event never changes, so a second version would be a record stored twice.
	events, err := connectortest.StoredRecords(t.Context(), w.bed.Store, "events")
	if err != nil {
		t.Fatal(err)
	}
	for key, r := range events {
		if r.Version != 1 {
			t.Fatalf("event %s was written %d times", key, r.Version)
		}
	}
	if runs := w.unfinished(t); len(runs) > 0 {
		t.Fatalf("runs still count as running: %v", runs)
	}
}

// change does to the provider's data what users do.
func (w *world) change(t *testing.T) {
	t.Helper()
	ops := []providersim.Mutation{
		{Op: "append_events", N: 40}, {Op: "edit_notes", N: 5}, {Op: "delete_notes", N: 2},
		{Op: "add_notes", N: 4}, {Op: "touch_threads", N: 3}, {Op: "add_threads", N: 6},
	}
	for range 2 {
		w.bed.Sim.MutateData(t, ops[w.rand.IntN(len(ops))])
	}
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x5eed)) }

func (w *world) unfinished(t *testing.T) []string {
	t.Helper()
	runs, err := w.bed.Store.ListRuns(context.Background(), runningQuery)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range runs {
		out = append(out, fmt.Sprintf("%s %s", r.ID, r.Status))
	}
	return out
}
