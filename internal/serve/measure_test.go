package serve

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/schedule/scheduler"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
	"github.com/pdpp-go/pdpp/internal/view"
	"github.com/pdpp-go/pdpp/protocol"
)

// keeping is a process over a database with one connection that has never run.
func keeping(t *testing.T, noon time.Time) *process {
	t.Helper()
	st, err := sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, filepath.Join(t.TempDir(), "pdpp.db")), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() }) // it is thrown away
	s := newProcess(Config{Store: st, Database: scheduler.Database{SQLite: st.(interface{ Writer() *sql.DB }).Writer()},
		Connectors: catalog.Catalog{Dir: t.TempDir()},
		Worker:     store.Worker{Version: "1.2.3"}, Revision: "abc", Now: func() time.Time { return noon }})
	if err := s.Database.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	generation, err := st.PutManifest(t.Context(), "garden", []byte(gardenManifest), noon)
	if err == nil {
		err = st.CreateConnection(t.Context(), store.Connection{ID: garden, ConnectorID: "garden", DisplayName: "Garden",
			Status:     store.ConnectionActive,
			SourceKind: store.SourceAccount, ManifestGeneration: generation, CreatedAt: noon, UpdatedAt: noon})
	}
	if err != nil {
		t.Fatal(err)
	}
	s.recorder = s.newRecorder(t.Context())
	return s
}

// scraped returns the lines of the scrape with the name, without it.
func (s *process) scraped(t *testing.T, name string) []string {
	t.Helper()
	w := httptest.NewRecorder()
	s.recorder.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	var out []string
	for line := range strings.Lines(w.Body.String()) {
		if rest, ok := strings.CutPrefix(line, "pdpp_"+name); ok {
			out = append(out, strings.TrimSpace(rest))
		}
	}
	return out
}

// A scrape shows the verdicts of connections, the queue, the age of the oldest run and the results of runs; and
// nothing else under those names.
func TestScrapeShowsWhatIs(t *testing.T) {
	noon := time.Date(2026, 4, 5, 12, 0, 0, 0, time.UTC)
	s := keeping(t, noon)
	shows := func(name string, want ...string) {
		t.Helper()
		if got := s.scraped(t, name); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if err := s.upkeep(t.Context(), noon); err != nil {
		t.Fatal(err)
	}
	judgement, err := (&view.View{Reader: s.Store, Now: s.Now}).One(t.Context(), garden)
	if err != nil {
		t.Fatal(err)
	}
	shows("connections", fmt.Sprintf(`{channel=%q,tone=%q} 1`, judgement.Verdict.Channel, judgement.Verdict.Pill.Tone))
	shows("queue_jobs")
	shows("leases_held", "0")
	shows("lease_oldest_age_seconds")
	_, err = s.Store.StartRun(t.Context(), store.RunStart{RunID: "run_1", ConnectionID: garden, ConnectorID: "garden",
		Trigger: store.TriggerManual, Holder: "w1", TTL: time.Hour,
		Streams: []store.StreamSpec{{Name: "beds"}}}, noon)
	if err == nil {
		_, err = s.Database.SQLite.ExecContext(t.Context(),
			`INSERT INTO river_job (args, kind, max_attempts, queue, state, scheduled_at) VALUES ('{"connector_id":"garden"}`+
				`', 'run', 1, 'network', 'available', datetime('now'))`)
	}
	if err == nil {
		err = s.upkeep(t.Context(), noon.Add(90*time.Second))
	}
	if err != nil {
		t.Fatal(err)
	}
	shows("queue_jobs", `{queue="network",state="available"} 1`)
	shows("leases_held", "1")
	shows("lease_oldest_age_seconds", "90")

	m := meter{s.recorder}
	m.Passed(7, 3, time.Second)
	m.Ran("garden", store.TriggerManual, launch.RunResult{Outcome: runner.Outcome{Status: runner.Succeeded,
		Rate:        &protocol.CollectionRate{CurrentIntervalMS: 1500},
		RateHistory: &runner.RateHistory{Points: []runner.RatePoint{{}, {Backoff: "retry_after"}, {Backoff: "rate_limited"}}},
	}}, 3*time.Second)
	m.Ran("garden", store.TriggerManual, launch.RunResult{Outcome: runner.Outcome{Status: runner.Failed}}, time.Second)
	shows("scheduler_jobs_enqueued_total", "3")
	shows("scheduler_pass_looks_sum", "7")
	shows("throttles_total", `{connector="other"} 2`)
	shows("request_interval_seconds", `{connector="other"} 1.5`)
	shows("run_duration_seconds_sum", `{connector="other"} 4`)
}

// prunings is a store that notes when the trail is pruned.
type prunings struct {
	store.Store
	upTo []time.Time
	err  error
}

func (p *prunings) PruneAudit(_ context.Context, before time.Time) (int64, error) {
	p.upTo = append(p.upTo, before)
	return 0, p.err
}

// The trail is pruned every hour, by the owner's word, and again at once after it failed.
func TestTrailIsPrunedEveryHour(t *testing.T) {
	noon := time.Date(2026, 4, 5, 12, 0, 0, 0, time.UTC)
	s := keeping(t, noon)
	kept := &prunings{Store: s.Store, err: errors.New("the disk is full")}
	s.Store = kept
	if err := s.upkeep(t.Context(), noon); !errors.Is(err, kept.err) {
		t.Errorf("it failed, and is told as %v", err)
	}
	kept.err = nil
	for _, after := range []time.Duration{0, time.Minute, pruneEvery - 1, pruneEvery, pruneEvery + 1} {
		if err := s.prune(t.Context(), noon.Add(after)); err != nil {
			t.Fatal(err)
		}
	}
	if len(kept.upTo) != 3 || !kept.upTo[1].Equal(kept.upTo[0]) || kept.upTo[2].Sub(kept.upTo[1]) != pruneEvery {
		t.Errorf("pruned up to %v", kept.upTo)
	}
}

// Upkeep is done with the first pass and then every now and then, and asks for a push.
func TestUpkeepIsDoneNowAndThen(t *testing.T) {
	noon := time.Date(2026, 4, 5, 12, 0, 0, 0, time.UTC)
	s := keeping(t, noon)
	for _, c := range []struct {
		after time.Duration
		done  bool
	}{{0, true}, {upkeepEvery - 1, false}, {upkeepEvery, true}, {upkeepEvery + time.Second, false},
		{2 * upkeepEvery, true}} {
		if err := s.afterPass(t.Context(), noon.Add(c.after), 0); err != nil {
			t.Fatal(err)
		}
		if got := s.keptAt.Equal(noon.Add(c.after)); got != c.done || len(s.pushWanted) == 1 != c.done {
			t.Errorf("after %v: upkeep %v, %d pushes asked for", c.after, got, len(s.pushWanted))
		}
		for len(s.pushWanted) > 0 {
			<-s.pushWanted
		}
	}
}

// A server without configured variables and programs has none.
func TestUnconfiguredServerHasNothing(t *testing.T) {
	var s process
	if value, ok := s.variable("PATH"); value != "" || ok {
		t.Errorf("a variable %q, %v", value, ok)
	}
	if path, err := s.program("sh"); path != "" || !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("a program %q, %v", path, err)
	}
}
