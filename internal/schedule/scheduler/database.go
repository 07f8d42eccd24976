package scheduler

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"
)

// Database is the store's database, which contains the queue. Exactly one field is set.
type Database struct {
	// SQLite is the store's writer: the queue's writes are serialized with the store's, so the file is never busy.
	SQLite *sql.DB
	// Postgres is a separate pool of the queue, which also listens for new jobs.
	Postgres *pgxpool.Pool
}

// client is the part of a River client that does not depend on the database.
type client interface {
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
	InsertMany(ctx context.Context, params []river.InsertManyParams) ([]*rivertype.JobInsertResult, error)
}

func (d Database) client(config *river.Config) (client, error) {
	if d.Postgres != nil {
		return river.NewClient(sharedDriver{riverpgxv5.New(d.Postgres)}, config)
	}
	return river.NewClient(embeddedDriver{riversqlite.New(d.SQLite)}, config)
}

// embeddedDriver is River's driver without its listener, which polls an embedded database twenty times a second.
// A client without listener still wakes its own workers for its own jobs, which are all jobs there.
type embeddedDriver struct{ *riversqlite.Driver }

func (embeddedDriver) SupportsListener() bool { return false }

// sharedDriver is River's driver for a database that several workers share.
type sharedDriver struct{ *riverpgxv5.Driver }

func (d sharedDriver) GetExecutor() riverdriver.Executor {
	return endedJobFilter{d.Driver.GetExecutor()}
}

// endedJobFilter drops jobs that another process ended concurrently. PostgreSQL returns such a job in its previous
// state, running, and River then panics. River v0.48 and later drop it themselves.
type endedJobFilter struct{ riverdriver.Executor }

func (e endedJobFilter) JobSetStateIfRunningMany(ctx context.Context,
	params *riverdriver.JobSetStateIfRunningManyParams) ([]*rivertype.JobRow, error) {
	jobs, err := e.Executor.JobSetStateIfRunningMany(ctx, params)
	return slices.DeleteFunc(jobs, func(j *rivertype.JobRow) bool { return j.State == rivertype.JobStateRunning }), err
}

// Migrate updates the queue's tables. Several processes may call it concurrently.
func (d Database) Migrate(ctx context.Context) error {
	var err error
	if d.Postgres != nil {
		err = migratePostgres(ctx, d.Postgres)
	} else {
		err = migrateWith(ctx, riversqlite.New(d.SQLite))
	}
	if err != nil {
		return fmt.Errorf("prepare the job queue: %w", err)
	}
	return nil
}

// migratePostgres migrates under a lock, so that one process migrates at a time.
func migratePostgres(ctx context.Context, pool *pgxpool.Pool) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	const key = `hashtextextended('pdpp job queue of ' || current_schema(), 0)`
	if _, err := conn.Exec(ctx, `SELECT pg_advisory_lock(`+key+`)`); err != nil {
		return err
	}
	err = migrateWith(ctx, riverpgxv5.New(pool))
	_, unlockErr := conn.Exec(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock(`+key+`)`)
	return errors.Join(err, unlockErr)
}

func migrateWith[TTx any](ctx context.Context, driver riverdriver.Driver[TTx]) error {
	m, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: discardLog})
	if err != nil {
		return err
	}
	// Another process may have migrated the embedded database first, or be writing to it.
	const attempts, pause = 10, 50 * time.Millisecond
	for i := range attempts {
		if _, err = m.Migrate(ctx, rivermigrate.DirectionUp, nil); err == nil || i == attempts-1 {
			break
		}
		select {
		case <-time.After(pause << i):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return err
}

// discardOrphans ends the jobs of dead workers. A job that has ended meanwhile stays as it is. A worker that was only
// suspended finds its job ended, which does not matter: its lease decides what it may write.
func (d Database) discardOrphans(ctx context.Context, jobs []int64, now time.Time) error {
	var queue riverdriver.Executor
	if d.Postgres != nil {
		queue = riverpgxv5.New(d.Postgres).GetExecutor()
	} else {
		queue = riversqlite.New(d.SQLite).GetExecutor()
	}
	n := len(jobs)
	_, err := queue.JobSetStateIfRunningMany(ctx, &riverdriver.JobSetStateIfRunningManyParams{
		ID: jobs, State: slices.Repeat([]rivertype.JobState{rivertype.JobStateDiscarded}, n),
		FinalizedAt: slices.Repeat([]*time.Time{&now}, n),
		Attempt:     make([]*int, n), ErrData: make([][]byte, n), ScheduledAt: make([]*time.Time, n),
		MetadataDoMerge: make([]bool, n), MetadataUpdates: make([][]byte, n), Now: &now,
	})
	if err != nil {
		return fmt.Errorf("end the jobs of dead workers: %w", err)
	}
	return nil
}

// Depth is how many runs wait or run in a queue.
type Depth struct {
	Queue, State, Connector string
	Jobs                    int64
}

const depthQuery = `SELECT queue, CAST(state AS TEXT), coalesce(%s, ''), count(*) FROM river_job
	WHERE kind = 'run' AND state IN ('available', 'pending', 'retryable', 'running', 'scheduled') GROUP BY 1, 2, 3
	ORDER BY 1, 2, 3`

// Depths counts waiting and running jobs. Its cost grows with the queue, which passes keep short.
func (d Database) Depths(ctx context.Context) ([]Depth, error) {
	var rows interface {
		Next() bool
		Scan(...any) error
		Err() error
	}
	if d.Postgres != nil {
		found, err := d.Postgres.Query(ctx, fmt.Sprintf(depthQuery, `args->>'connector_id'`))
		if err != nil {
			return nil, fmt.Errorf("count the queue: %w", err)
		}
		defer found.Close()
		rows = found
	} else {
		found, err := d.SQLite.QueryContext(ctx, fmt.Sprintf(depthQuery, `json_extract(args, '$.connector_id')`))
		if err != nil {
			return nil, fmt.Errorf("count the queue: %w", err)
		}
		defer found.Close()
		rows = found
	}
	var out []Depth
	for rows.Next() {
		var d Depth
		if err := rows.Scan(&d.Queue, &d.State, &d.Connector, &d.Jobs); err != nil {
			return nil, fmt.Errorf("count the queue: %w", err)
		}
		out = append(out, d)
	}
	return out, rows.Err()
}
