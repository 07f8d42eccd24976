package runstreak

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// Whatever the runs are, grouping loses none, parts no neighbours that ended alike, joins
// none that ended otherwise, and keeps the order of each connection.
func TestStreaksKeepEveryRun(t *testing.T) {
	g := rand.New(rand.NewPCG(1, 2))
	pick := func(from ...string) string { return from[g.IntN(len(from))] }
	for range 2000 {
		runs := make([]api.Run, g.IntN(30))
		for i := range runs {
			r := &runs[i]
			r.ID, r.ConnectionID, r.Status = fmt.Sprint(i), pick("a", "a", "b"),
				pick("succeeded", "failed", "failed", "cancelled", "running")
			if r.Status == "failed" {
				r.Failure, r.FailureCode = pick("unreachable", "refused"), pick("x", "y")
			}
			if r.Status != "running" {
				r.CompletedAt = &r.StartedAt
			}
		}
		seen := map[string][]string{}
		last := map[string]Ending{}
		total := 0
		for _, s := range Streaks(runs, true, EndingOf) {
			e := EndingOf(s.Newest())
			if before, known := last[e.ConnectionID]; known && before == e && !e.Apart {
				t.Fatalf("two streaks of %+v", e)
			}
			last[e.ConnectionID] = e
			if e.Apart && len(s.Runs) != 1 {
				t.Fatalf("%d runs under way in one", len(s.Runs))
			}
			for i := range s.Runs {
				if EndingOf(&s.Runs[i]) != e {
					t.Fatalf("%+v in a streak of %+v", EndingOf(&s.Runs[i]), e)
				}
				seen[e.ConnectionID] = append(seen[e.ConnectionID], s.Runs[i].ID)
				total++
			}
		}
		if total != len(runs) {
			t.Fatalf("%d runs of %d", total, len(runs))
		}
		at := map[string]int{}
		for _, r := range runs {
			if seen[r.ConnectionID][at[r.ConnectionID]] != r.ID {
				t.Fatalf("another order: %v", seen)
			}
			at[r.ConnectionID]++
		}
	}
}
