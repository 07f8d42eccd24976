package chaostest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store/postgres"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
)

// TestChaos is the whole of it, on both databases.
func TestChaos(t *testing.T) {
	p, seed, long := build(t), chaosSeed(t), chaosTime(t)
	t.Run("postgres", func(t *testing.T) { t.Parallel(); onPostgres(t, p, seed, long) })
	t.Run("sqlite", func(t *testing.T) { t.Parallel(); onSQLite(t, p, seed, long) })
}

// Three workers and sixteen connections, or forty in the long version, share a PostgreSQL server. Workers are
// killed every few seconds, one after the other is paused beyond its leases and
// woken, and the server is torn down again and again.
func onPostgres(t *testing.T, p shipped, seed uint64, long time.Duration) {
	c := startCluster(t)
	st, err := postgres.Open(t.Context(), c.url, postgres.Options{Connections: 4})
	must(t, err)
	t.Cleanup(func() { _ = st.Close() })
	w := &world{shipped: p, seed: seed, home: p.home(t), database: c.url + frozenTransaction, store: st}
	w.leaseTTL.Store(int64(3 * time.Second))
	connections := 16
	if long > 0 {
		connections = 40
	}
	w.plant(t, connections, 8)
	w.employ(t, 3, 8)
	restarts := max(2, int(long/(3*time.Minute)))
	w.suffer(t, max(long, 20*time.Second), func(ctx context.Context, actors *sync.WaitGroup, d time.Duration) {
		actors.Go(func() { w.killNowAndThen(ctx) })
		actors.Go(func() { w.stopNowAndThen(ctx, t) })
		actors.Go(func() { w.restartNowAndThen(ctx, t, c, d/time.Duration(restarts+1), restarts) })
	})
	w.ensureZombie(t)
	w.settle(t)
	w.leave(t)
	w.judge(t)
	if w.tally.restarts != restarts {
		t.Errorf("PostgreSQL was restarted %d times, want %d", w.tally.restarts, restarts)
	}
	w.report(t)
}

// frozenTransaction is a parameter of a worker's database URL. It makes the server end the
// transaction of a paused process. That transaction locks the row of a lease, which blocks a
// takeover of the connection.
const frozenTransaction = "&idle_in_transaction_session_timeout=2000"

// One process and ten connections on a SQLite file; the process is killed and
// started again twenty times, or as often as the long version has time for.
func onSQLite(t *testing.T, p shipped, seed uint64, long time.Duration) {
	home := p.home(t)
	file := filepath.Join(home, "pdpp.db")
	st, err := sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, file), sqlite.Options{})
	must(t, err)
	t.Cleanup(func() { _ = st.Close() })
	w := &world{shipped: p, seed: seed, home: home, store: st}
	w.leaseTTL.Store(int64(2 * time.Second))
	w.plant(t, 10, 5)
	w.employ(t, 1, 8)
	kills := max(20, int(long/(1500*time.Millisecond)))
	w.suffer(t, time.Hour, func(ctx context.Context, actors *sync.WaitGroup, _ time.Duration) {
		w.killAndRestart(ctx, t, kills)
	})
	w.settle(t)
	w.leave(t)
	w.judge(t)
	if w.tally.kills != kills {
		t.Errorf("%d SIGKILLs hit, want %d", w.tally.kills, kills)
	}
	var sound string
	must(t, w.sql.QueryRowContext(t.Context(), `PRAGMA integrity_check`).Scan(&sound))
	if sound != "ok" {
		t.Errorf("the file is damaged: %s", sound)
	}
	w.report(t)
}

// suffer lets the providers live and the actors act, for at most d; it returns
// when all have left off.
func (w *world) suffer(t *testing.T, d time.Duration,
	act func(ctx context.Context, actors *sync.WaitGroup, d time.Duration)) {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	life, end := context.WithCancel(t.Context())
	var provider, actors sync.WaitGroup
	provider.Go(func() { w.live(life, t) })
	began := time.Now()
	act(ctx, &actors, d)
	actors.Wait()
	end()
	provider.Wait()
	w.tally.lasted = time.Since(began)
}

// tally is what happened. Actors write their own fields; they are read afterwards.
type tally struct {
	lasted, settled        time.Duration
	kills, stops, restarts int
	refused                int // runs with a worker that continued after losing them and could write nothing
	ownerRuns              int // runs that had to be asked for, because a wait after failures was long
	runs, abandoned        int
	events                 int
	records, missing       int
}

func (w *world) report(t *testing.T) {
	if t.Failed() {
		return
	}
	c := w.tally
	t.Attr("result", fmt.Sprintf("%d SIGKILLs, %d stops beyond the lease, %d server restarts in %.0f s: %d runs of %d "+
		"connections, %d abandoned, %d runs refused to their former worker; %d events, one writer at a time; %d records "+
		"compared, %d gaps declared; %d owner runs, settled after %.0f s; seed %d",
		c.kills, c.stops, c.restarts, c.lasted.Seconds(), c.runs, len(w.sources), c.abandoned, c.refused, c.events, c.records,
		c.missing, c.ownerRuns, c.settled.Seconds(), w.seed))
}

// chaosSeed is what every choice follows from; moments follow from the machine too.
func chaosSeed(t *testing.T) uint64 {
	seed := rand.Uint64()
	if text := os.Getenv("PDPP_CHAOS_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("PDPP_CHAOS_SEED: %v", err)
		}
	}
	t.Logf("seed: PDPP_CHAOS_SEED=%d", seed)
	return seed
}

// chaosTime is how long the long version lasts; zero means the short one.
func chaosTime(t *testing.T) time.Duration {
	text := os.Getenv("PDPP_CHAOS_MINUTES")
	if text == "" {
		return 0
	}
	minutes, err := strconv.Atoi(text)
	if err != nil || minutes < 1 {
		t.Fatalf("PDPP_CHAOS_MINUTES is %q, want a whole number from 1 on", text)
	}
	return time.Duration(minutes) * time.Minute
}
