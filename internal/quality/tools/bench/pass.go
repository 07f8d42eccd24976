package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/schedule/repair"
	"github.com/pdpp-go/pdpp/internal/schedule/scheduler"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/storetest"
)

// passed is what one process that makes passes reports of itself. Times are in
// milliseconds, one per round, ours and the bare statements' side by side.
type passed struct {
	Looks     []float64 `json:"looks"`
	BareLooks []float64 `json:"bare_looks"`
	Pass      []float64 `json:"pass"`
	BarePass  []float64 `json:"bare_pass"`
	HeapMiB   float64   `json:"heap_mib"` // in use when the first pass ended, garbage included
	PeakRSS   int64     `json:"peak_rss"` // of everything up to then
}

// passMain makes real passes of the scheduler over a store that enlarge filled.
func passMain(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("pass", flag.ContinueOnError)
	database := f.String("database", "", "file, or URL of PostgreSQL")
	rounds := f.Int("rounds", 3, "rounds")
	if err := f.Parse(args); err != nil {
		return err
	}
	opened, err := openStore(ctx, *database)
	if err != nil {
		return err
	}
	defer opened.Close()
	p := passer{st: opened.(fleetStore), now: storetest.Now.Add(24 * time.Hour), bare: bareSQLite}
	p.db.SQLite = p.st.Writer()
	if strings.Contains(*database, "://") {
		pool, err := pgxpool.New(ctx, *database)
		if err != nil {
			return err
		}
		defer pool.Close()
		p.db, p.bare = scheduler.Database{Postgres: pool}, barePostgres
	}
	if err := p.db.Migrate(ctx); err != nil {
		return err
	}
	var out passed
	for round := range *rounds + 1 {
		if err := p.round(ctx, &out, round == 0); err != nil {
			return err
		}
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

// fleetStore is a store that can be filled and read barely.
type fleetStore interface {
	storetest.Bare
	storetest.Writable
}

type passer struct {
	st   fleetStore
	db   scheduler.Database
	now  time.Time
	bare bareSQL
}

// round times each part once. The first round prepares statements and reads the
// manifest; only its memory counts.
func (p *passer) round(ctx context.Context, out *passed, first bool) error {
	for _, part := range []struct {
		into *[]float64
		do   func(context.Context) (time.Duration, error)
	}{
		{&out.Pass, p.pass}, {&out.BarePass, func(ctx context.Context) (time.Duration, error) { return p.barely(ctx, true) }},
		{&out.Looks, p.looks}, {&out.BareLooks,
			func(ctx context.Context) (time.Duration, error) { return p.barely(ctx, false) }},
	} {
		for _, query := range []string{`DELETE FROM river_job`, `DELETE FROM connector_attention_records`,
			`UPDATE connections SET look_at = '' WHERE length(connection_id) = length('cin_example_00000')`} {
			if _, err := p.st.Writer().ExecContext(ctx, query); err != nil {
				return err
			}
		}
		took, err := part.do(ctx)
		if err != nil {
			return err
		}
		if !first {
			*part.into = append(*part.into, took.Seconds()*1000)
		} else if part.into == &out.Pass {
			var mem runtime.MemStats
			runtime.ReadMemStats(&mem)
			out.HeapMiB = float64(mem.HeapInuse) / (1 << 20)
			if out.PeakRSS, err = peakRSS(); err != nil {
				return err
			}
		}
	}
	return nil
}

// looks finds what is due and puts it off, in pages as the scheduler does.
func (p *passer) looks(ctx context.Context) (time.Duration, error) {
	begin := time.Now()
	for found := 0; found < dueInPass; {
		looks, err := p.st.ClaimChecks(ctx, p.now, 20*time.Second, lookPage)
		if err != nil {
			return 0, err
		}
		if found += len(looks); len(looks) == 0 {
			return 0, fmt.Errorf("%d connections are due, want %d", found, dueInPass)
		}
		for i := range looks {
			looks[i].At = p.now.Add(time.Hour)
		}
		if err := p.st.PutChecks(ctx, looks); err != nil {
			return 0, err
		}
	}
	return time.Since(begin), nil
}

// lookPage is how many connections the scheduler looks at together.
const lookPage = 500

// pass starts a worker that can run nothing of what is due, and takes the time
// of its first pass, in which everything due is judged, watched and queued.
func (p *passer) pass(ctx context.Context) (time.Duration, error) {
	first, begin := make(firstPass, 1), time.Now()
	s, err := scheduler.New(scheduler.Config{
		Store: p.st, Database: p.db, Runs: noRuns{},
		Worker:      store.Worker{ID: "bench", Capabilities: []string{string(scheduler.Browser)}},
		PerProvider: dueInPass, Rhythm: scheduler.Rhythm{Pass: time.Hour}, Meter: first,
		Now: func() time.Time { return p.now.Add(time.Since(begin)) },
		Watchers: []scheduler.Watcher{&repair.Watcher{
			Store: repairStore{p.st}, Log: slog.New(slog.DiscardHandler), NewID: newRecordID(),
			RuntimeOK: func(context.Context) (bool, error) { return true, nil },
		}},
	})
	if err != nil {
		return 0, err
	}
	if err := s.Start(ctx); err != nil {
		return 0, err
	}
	var made onePass
	select {
	case made = <-first:
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(time.Minute):
		err = errors.New("no pass within a minute")
	}
	if err := errors.Join(err, s.Stop(ctx)); err != nil {
		return 0, err
	}
	const here = dueInPass - dueInPass/storetest.FilledDevices // devices collect the others
	if made.looked != dueInPass || made.enqueued != here {
		return 0, fmt.Errorf("the pass looked at %d connections and queued %d, want %d and %d", made.looked, made.enqueued,
			dueInPass, here)
	}
	return made.took, nil
}

type onePass struct {
	looked, enqueued int
	took             time.Duration
}

// firstPass receives only the first pass.
type firstPass chan onePass

func (f firstPass) Passed(looked, enqueued int, took time.Duration) {
	select {
	case f <- onePass{looked, enqueued, took}:
	default:
	}
}

func (firstPass) Ran(string, store.Trigger, launch.RunResult, time.Duration) {}

type noRuns struct{}

func (noRuns) Run(context.Context, launch.RunRequest) (launch.RunResult, error) {
	return launch.RunResult{}, errors.New("nothing is to be run")
}
