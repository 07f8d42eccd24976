package foreigntest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/providersim"
)

// How often each connector is killed: a shell is there at once, Python takes its time.
const (
	shellKills  = 80
	pythonKills = 20
)

// run lets the connector run and be killed by whatever the test has prepared.
func run(t *testing.T, b *connectortest.Harness, started func(runID string)) {
	t.Helper()
	result := b.Run(t, launch.RunRequest{Started: started})
	if f := result.Failure; f != nil && f.Reason != runner.ReasonExitWithoutDone {
		t.Fatalf("a killed run ended as %s: %v", result.Status, f)
	}
}

// A connector in Python that is killed at random moments, while its source changes, loses
// nothing, and nothing is there twice, in either database.
func TestPythonConnectorIsKilled(t *testing.T) {
	for name, c := range map[string]struct {
		bed   *connectortest.Harness
		kills int
	}{
		"sqlite":   {connectortest.NewHarness(t, almanac(t)), pythonKills * 3 / 4},
		"postgres": {onPostgres(t, almanac(t)), pythonKills / 4},
	} {
		t.Run(name, func(t *testing.T) { killPython(t, c.bed, c.kills) })
	}
}

func killPython(t *testing.T, b *connectortest.Harness, kills int) {
	source := b.Sim.Provider.(*listed)
	chance, killed := rand.New(rand.NewPCG(7, 14)), 0
	for try := 0; killed < kills; try++ {
		if try > 3*kills {
			t.Fatalf("%d kills in %d runs", killed, try)
		}
		var runID string
		requests, at := 0, 1+chance.IntN(7)
		source.Before = func() {
			if requests++; requests == at {
				killed += connectortest.KillConnector(runID)
			}
		}
		run(t, b, func(id string) { runID = id })
		b.VerifyNothingInvented(t)
		source.Before = nil
		for _, m := range []providersim.Mutation{{Op: "append_events", N: 2}, {Op: "edit_notes", N: 1},
			{Op: "delete_notes", N: 1}} {
			b.Sim.MutateData(t, m)
		}
	}
	b.Succeed(t)
	b.VerifyComplete(t)
	healthy(t, b)
	t.Attr("result", fmt.Sprintf("%d SIGKILLs of a Python connector: ground truth == stored, nothing invented", killed))
}

// A connector in shell is killed after any number of lines. What was taken of it before
// never goes away, and what the diary takes back further down is gone in the end.
func TestShellConnectorIsKilled(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "diary")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	var lines []string
	entries := items{"entries", map[string]string{}}
	for n := range 60 {
		name := fmt.Sprintf("day%02d", n)
		lines = append(lines, name+" it rained")
		entries.records[name] = fmt.Sprintf(`{"name":%q,"text":"it rained"}`, name)
		if n%10 == 9 {
			lines = append(lines, fmt.Sprintf("day%02d -", n-5))
			delete(entries.records, fmt.Sprintf("day%02d", n-5))
		}
	}
	b := connectortest.NewHarness(t, fixed(t, "diary", entries, map[string]string{"DIARY_FILE": pipe}))
	// write sends n lines to the connector, and then kills it or ends the diary.
	write := func(runID string, n int, kill bool) <-chan int {
		done := make(chan int, 1)
		go func() {
			f, err := os.OpenFile(pipe, os.O_WRONLY, 0)
			if err != nil {
				t.Errorf("open the diary: %v", err)
				done <- 0
				return
			}
			_, _ = f.WriteString(strings.Join(append(lines[:n:n], ""), "\n"))
			killed := 0
			if kill {
				killed = connectortest.KillConnector(runID)
			}
			_ = f.Close()
			done <- killed
		}()
		return done
	}
	chance, killed, kept, grew := rand.New(rand.NewPCG(9, 14)), 0, 0, 0
	for try := 0; killed < shellKills; try++ {
		if try > 2*shellKills {
			t.Fatalf("%d kills in %d runs", killed, try)
		}
		var ended <-chan int
		run(t, b, func(id string) { ended = write(id, chance.IntN(len(lines)*killed/shellKills+2), true) })
		killed += min(1, <-ended)
		stored, err := connectortest.StoredRecords(t.Context(), b.Store, "entries")
		switch {
		case err != nil:
			t.Fatal(err)
		case len(stored) < kept:
			t.Fatalf("%d records were kept, and after another kill %d", kept, len(stored))
		case len(stored) > kept:
			grew++
		}
		kept = len(stored)
	}
	if grew < 5 {
		t.Errorf("what is kept grew %d times in %d runs, to %d records", grew, killed, kept)
	}
	var ended <-chan int
	result := b.Run(t, launch.RunRequest{Started: func(id string) { ended = write(id, len(lines), false) }})
	<-ended
	if result.Status != runner.Succeeded {
		t.Fatalf("ended as %s: %v", result.Status, result.Failure)
	}
	b.VerifyComplete(t)
	healthy(t, b)
	t.Attr("result", fmt.Sprintf("%d SIGKILLs of a shell connector, after %d of which more was kept: ground truth == "+
		"stored, nothing invented", killed, grew))
}
