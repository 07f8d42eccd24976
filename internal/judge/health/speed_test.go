package health_test

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/health"
	"github.com/pdpp-go/pdpp/manifest"
)

func scheduled(now time.Time) evidence.Evidence {
	ended, n := now.Add(-time.Hour), int64(120)
	e := evidence.Evidence{
		Connection: evidence.Connection{ID: "cin_1", ConnectorID: "example", Status: evidence.StatusActive,
			SourceKind: "account"},
		Refresh: &manifest.RefreshPolicy{RecommendedMode: manifest.RefreshAutomatic, MaximumStalenessSeconds: 86400},
		Records: &evidence.Records{Retained: 1000},
		LastRun: &evidence.Run{ID: "run_1", Status: evidence.RunSucceeded, StartedAt: ended.Add(-time.Minute), EndedAt: ended,
			Committed: &n},
		LastSuccessAt: &ended,
		Schedule:      &evidence.Schedule{Enabled: true, IntervalSeconds: 7200},
		Gaps:          &evidence.Gaps{},
	}
	for _, name := range []string{"events", "notes", "threads"} {
		e.Streams = append(e.Streams, evidence.Stream{Name: name, Required: true,
			Fact: &evidence.Fact{RunStatus: evidence.RunSucceeded, At: ended, Collected: 40, Considered: &n, Covered: &n,
				Checkpoint: "committed"}})
	}
	return e
}

func BenchmarkProjectHealthy(b *testing.B) {
	now := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	e := scheduled(now)
	b.ReportAllocs()
	for b.Loop() {
		health.Project(&e, now)
	}
}
