package consoletest

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/owner/console"
	"github.com/pdpp-go/pdpp/internal/owner/routes"
	"github.com/pdpp-go/pdpp/internal/owner/service"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
	"github.com/pdpp-go/pdpp/internal/web/auth"
	"github.com/pdpp-go/pdpp/internal/web/server"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

var noon = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) *time.Time { at := noon.Add(-d); return &at }

// healthy collects by a schedule and has everything; what was missing once has been fetched.
func healthy(id string) evidence.Evidence {
	n, recovered := int64(120), int64(23)
	return evidence.Evidence{
		Connection: evidence.Connection{ID: id, ConnectorID: "orchard", DisplayName: "Orchard " + id,
			Status: evidence.StatusActive, SourceKind: "account"},
		Refresh: &manifest.RefreshPolicy{RecommendedMode: manifest.RefreshAutomatic, MaximumStalenessSeconds: 86400},
		Records: &evidence.Records{Retained: 1000, ChangedAt: ago(time.Hour)},
		LastRun: &evidence.Run{ID: "run_1", Status: evidence.RunSucceeded, StartedAt: *ago(62 * time.Minute),
			EndedAt: *ago(time.Hour), Committed: &n},
		Schedule: &evidence.Schedule{Enabled: true, IntervalSeconds: 7200, UpdatedAt: *ago(time.Hour)},
		Gaps:     &evidence.Gaps{Recovered: &recovered}, LastSuccessAt: ago(time.Hour),
		Streams: []evidence.Stream{{Name: "trees", Required: true, Retained: &n, Fact: &evidence.Fact{
			RunStatus: evidence.RunSucceeded, At: *ago(time.Hour), Collected: 120, Considered: &n, Covered: &n,
			Checkpoint: evidence.CheckpointCommitted,
		}}},
	}
}

// fresh is registered and has no data.
func fresh(id string) evidence.Evidence {
	e := healthy(id)
	e.Records, e.LastRun, e.LastSuccessAt, e.Gaps = &evidence.Records{}, nil, nil, &evidence.Gaps{}
	e.Streams[0].Fact, e.Streams[0].Retained = nil, nil
	return e
}

// pressed has items left that the source asked to leave for later, and others.
func pressed(id string, pressure, others int64) evidence.Evidence {
	e := healthy(id)
	e.Gaps.Groups = nil
	if pressure > 0 {
		e.Gaps.Groups = append(e.Gaps.Groups, evidence.GapGroup{Stream: "trees", Reason: protocol.SourcePressureReasons[0],
			Count: pressure, MaxAttempts: 2, NotBefore: ago(-time.Hour)})
	}
	if others > 0 {
		e.Gaps.Groups = append(e.Gaps.Groups, evidence.GapGroup{Stream: "trees", Reason: "wasps", Count: others})
	}
	return e
}

// device is fed by collectors elsewhere.
func device(id string, sources ...evidence.DeviceSource) evidence.Evidence {
	e := healthy(id)
	e.Connection.SourceKind = evidence.SourceLocalDevice
	e.LastRun, e.LastSuccessAt, e.Schedule, e.Streams[0].Fact = nil, nil, nil, nil
	e.Gaps.Recovered = nil
	e.Device = &evidence.Device{Sources: sources, LastIngestAt: ago(5 * time.Minute),
		Stores: []evidence.CoverageStore{{Store: "journal", Stream: "trees", Status: "collected"}}}
	return e
}

func collector(id, host string, status evidence.HeartbeatStatus, pending int64,
	counts *evidence.OutboxCounts) evidence.DeviceSource {
	return evidence.DeviceSource{ID: id, Host: host, DeviceStatus: evidence.StatusActive, Status: evidence.StatusActive,
		Heartbeat: &evidence.Heartbeat{At: *ago(2 * time.Minute), Status: status, Pending: &pending, Outbox: counts}}
}

// shelf is evidence that a test wrote.
type shelf struct {
	all     []evidence.Evidence
	runtime evidence.Runtime
	reads   atomic.Int64 // of evidence
}

func (s *shelf) Runtime(context.Context) (evidence.Runtime, error) { return s.runtime, nil }

func (s *shelf) Evidence(_ context.Context, q evidence.Query) (out []evidence.Evidence, err error) {
	s.reads.Add(1)
	for _, e := range s.all {
		named := q.ConnectionIDs == nil && e.Connection.ID > q.After || slices.Contains(q.ConnectionIDs, e.Connection.ID)
		if named && (q.ConnectionIDs != nil || q.Limit == 0 || len(out) < q.Limit) {
			out = append(out, e)
		}
	}
	return out, nil
}

type noDoor struct{}

func (noDoor) Pages(next http.Handler) http.Handler     { return next }
func (noDoor) Confirmed(next http.Handler) http.Handler { return next }
func (noDoor) Fresh(context.Context) bool               { return true }
func (noDoor) PasskeysAt(*http.Request) bool            { return false }

// plant serves the console, and the owner's routes, over evidence that a test wrote.
func plant(t *testing.T, runtime evidence.Runtime, all ...evidence.Evidence) string {
	t.Helper()
	address, _ := plantShelf(t, runtime, all...)
	return address
}

// plantShelf is like plant, and also returns the evidence, which counts its reads.
func plantShelf(t *testing.T, runtime evidence.Runtime, all ...evidence.Evidence) (string, *shelf) {
	t.Helper()
	slices.SortFunc(all, func(a, b evidence.Evidence) int {
		if a.Connection.ID < b.Connection.ID {
			return -1
		}
		return 1
	})
	st, err := sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, filepath.Join(t.TempDir(), "pdpp.db")), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	for _, e := range all {
		err := st.CreateConnection(t.Context(), store.Connection{ID: e.Connection.ID, ConnectorID: "orchard",
			DisplayName: e.Connection.DisplayName,
			Status:      store.ConnectionActive, SourceKind: store.SourceKind(e.Connection.SourceKind), CreatedAt: noon,
			UpdatedAt: noon})
		if err != nil {
			t.Fatal(err)
		}
	}
	log := slog.New(slog.DiscardHandler)
	now := func() time.Time { return noon }
	facts := &shelf{all: all, runtime: runtime}
	o := service.New(service.Config{Store: st, Access: auth.New(auth.Config{Store: st, Now: now}), Reader: facts,
		Now: now})
	ending, end := context.WithCancel(context.Background())
	srv := httptest.NewServer(server.New(server.Config{Log: log, Mount: func(mux *http.ServeMux) {
		for _, route := range routes.Routes(o, log) {
			mux.Handle(route.Pattern, route.Handle)
		}
		console.Mount(mux, console.Config{Owner: o, Auth: noDoor{}, Now: now, Log: log, PageHeaders: server.PageHeaders,
			Ending: ending.Done()})
	}}))
	t.Cleanup(func() { end(); srv.Close() })
	return srv.URL, facts
}
