package main

import (
	"testing"

	"github.com/pdpp-go/pdpp/internal/judge/health"
)

// TestDriftOfADevice shows that a device reports answers that differ, that the owner sees them as those of a run on the
// server, and that a later run which finds nothing ends them.
func TestDriftOfADevice(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, p *place) {
		pass := func(words int, drift string) {
			t.Helper()
			p.write(words)
			p.vars("DIARY_DRIFT=" + drift)
			if code := p.run(); code != exitOK {
				t.Fatalf("the pass ended with %d", code)
			}
		}
		pass(3, `{"answers":4,"differences":[{"kind":"new_member","route":"FILE notes","member":"colour","count":2}],`+
			`"total":{"announced":9,"counted":3}}`)
		seen := p.seen(0)
		if len(seen.Drift) != 1 || seen.Drift[0].Stream != "notes" || len(seen.Drift[0].Differences) != 1 ||
			seen.Drift[0].Differences[0].Member != "colour" {
			t.Fatalf("%+v", seen.Drift)
		}
		if c := seen.Health.Axes.Coverage; c != health.Partial {
			t.Errorf("3 of 9 are called %s", c)
		}
		pass(4, `{"answers":4,"total":{"announced":4,"counted":4}}`)
		if seen := p.seen(0); len(seen.Drift) != 0 || seen.Health.Axes.Coverage == health.Partial {
			t.Errorf("after a run without differences: %s, %+v", seen.Health.Axes.Coverage, seen.Drift)
		}
	})
}
