package main

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pdpp-go/pdpp/internal/storage/store/postgres"
)

func measurePostgres(ctx context.Context, c config, dir string, r *report) error {
	if c.Postgres == "" {
		fmt.Println("PostgreSQL is left out: give --postgres or run make bench")
		return nil
	}
	var base, ours []float64
	for i := range c.Rounds {
		b, err := inDatabase(ctx, c.Postgres, fmt.Sprintf("pdpp_bench_raw_%d", i), func(dsn string) (float64, error) {
			return rawPostgres(ctx, dsn, c.Records)
		})
		if err != nil {
			return fmt.Errorf("raw upsert into PostgreSQL: %w", err)
		}
		base = append(base, b)
		o, err := inDatabase(ctx, c.Postgres, fmt.Sprintf("pdpp_bench_ours_%d", i), func(dsn string) (float64, error) {
			m, err := collect(ctx, dir, dsn, c.Records, false)
			return float64(c.Records) / m.Seconds, err
		})
		if err != nil {
			return err
		}
		ours = append(ours, o)
	}
	r.compare("child to PostgreSQL against raw unnest upserts", ours, base, 0.60)
	return nil
}

// inDatabase runs do in a fresh database and drops it again.
func inDatabase(ctx context.Context, server, name string, do func(dsn string) (float64, error)) (float64, error) {
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return 0, err
	}
	defer conn.Close(ctx)
	drop := "DROP DATABASE IF EXISTS " + name + " WITH (FORCE)"
	if _, err := conn.Exec(ctx, drop); err != nil {
		return 0, err
	}
	if _, err := conn.Exec(ctx, "CREATE DATABASE "+name); err != nil {
		return 0, err
	}
	defer conn.Exec(ctx, drop)
	u, err := url.Parse(server)
	if err != nil {
		return 0, err
	}
	u.Path = "/" + name
	return do(u.String())
}

// rawPostgres upserts the same rows by unnest, a thousand per statement, into the store's own records table.
func rawPostgres(ctx context.Context, dsn string, n int) (float64, error) {
	st, err := postgres.Open(ctx, dsn, postgres.Options{})
	if err != nil {
		return 0, err
	}
	if err := st.Close(); err != nil {
		return 0, err
	}
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return 0, err
	}
	defer conn.Close(ctx)
	rows := make([]string, n)
	for i := range rows {
		rows[i] = body(i)
	}
	const upsert = `INSERT INTO records (stream_id, record_key, data, emitted_at, semantic_time, seq, version,
		changed_at, run_no)
SELECT 1, k, d, '2026-01-02T03:04:05Z', '2026-01-02T03:04:05.000000Z', s, 1, '2026-01-02T03:04:05.000000Z', 1
FROM unnest($1::text[], $2::text[], $3::bigint[]) AS t (k, d, s)
ON CONFLICT (stream_id, record_key) DO UPDATE SET data = excluded.data, emitted_at = excluded.emitted_at,
semantic_time = excluded.semantic_time, seq = excluded.seq, version = records.version + 1,
changed_at = excluded.changed_at`
	begin := time.Now()
	for start := 0; start < n; start += sliceSize {
		end := min(start+sliceSize, n)
		keys, seqs := make([]string, 0, sliceSize), make([]int64, 0, sliceSize)
		for i := start; i < end; i++ {
			keys, seqs = append(keys, fmt.Sprintf("rec_%09d", i)), append(seqs, int64(i+1))
		}
		if _, err := conn.Exec(ctx, upsert, keys, rows[start:end], seqs); err != nil {
			return 0, err
		}
	}
	return float64(n) / time.Since(begin).Seconds(), nil
}
