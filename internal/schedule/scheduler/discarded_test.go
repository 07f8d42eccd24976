package scheduler

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres/postgrestest"
)

// A worker that was away for long may end its job in the very moment in which another
// one discards it as dead. PostgreSQL then shows it the job as it was before, still
// running: the worker goes on as if it had found it discarded, and its other runs with it.
func TestJobIsDiscardedWhileItEnds(t *testing.T) {
	t.Parallel()
	ctx, url := t.Context(), postgrestest.NewDatabase(t)
	st, err := postgres.Open(ctx, url, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	o := &orchard{t: t, st: st, db: Database{Postgres: pool}, under: map[string]int{}, most: map[string]int{},
		play: map[string]func(context.Context, *orchard, launch.RunRequest) runner.Outcome{}}
	o.must(o.db.Migrate(ctx))
	o.plant("cin_pear", "orchard", 0)
	begun, end := make(chan string), make(chan struct{})
	o.plays("orchard", func(_ context.Context, _ *orchard, req launch.RunRequest) runner.Outcome {
		begun <- req.ConnectionID
		<-end
		return runner.Outcome{Status: runner.Succeeded}
	})
	ask := func() {
		_, err := st.RequestRun(ctx, store.RunRequest{ConnectionID: "cin_pear", Trigger: store.TriggerManual,
			RequestedAt: time.Now()})
		o.must(err)
		<-begun
	}
	s := o.worker("w1", func(c *Config) { c.clock = nil })
	ask()

	other, err := pool.Begin(ctx)
	o.must(err)
	tag, err := other.Exec(ctx, `UPDATE river_job SET state = 'discarded', finalized_at = now() WHERE state = 'running'`)
	if err != nil || tag.RowsAffected() != 1 {
		t.Fatalf("discarded %d jobs: %v", tag.RowsAffected(), err)
	}
	end <- struct{}{}
	for waits := false; !waits; {
		o.must(pool.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM pg_locks l JOIN pg_stat_activity a USING (pid)
			WHERE NOT l.granted AND a.query LIKE '%JobSetStateIfRunningMany%' AND $1 = ANY (pg_blocking_pids(pid)))`,
			other.Conn().PgConn().PID()).Scan(&waits))
	}
	o.must(other.Commit(ctx))

	ask() // the worker has gone on
	close(end)
	o.close(s)
	var state string
	o.must(pool.QueryRow(ctx, `SELECT string_agg(state::text, ' ' ORDER BY id) FROM river_job`).Scan(&state))
	if state != "discarded completed" {
		t.Errorf("the jobs are %s", state)
	}
}
