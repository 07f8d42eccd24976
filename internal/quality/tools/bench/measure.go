package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	_ "modernc.org/sqlite" // the driver that the store uses, here bare

	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
)

func measureSQLite(ctx context.Context, c config, dir string, r *report) error {
	var base, plain, search []float64
	for i := range c.Rounds {
		b, err := rawSQLite(ctx, filepath.Join(dir, fmt.Sprintf("raw%d.db", i)), c.Records)
		if err != nil {
			return fmt.Errorf("raw upsert into SQLite: %w", err)
		}
		base = append(base, b)
		for _, withSearch := range []bool{false, true} {
			file := filepath.Join(dir, fmt.Sprintf("ours%d-%t.db", i, withSearch))
			m, err := collect(ctx, dir, file, c.Records, withSearch)
			if err != nil {
				return err
			}
			_ = os.Remove(file)
			if rate := float64(c.Records) / m.Seconds; withSearch {
				search = append(search, rate)
			} else {
				plain = append(plain, rate)
			}
		}
	}
	r.compare("child to SQLite against raw upserts", plain, base, 0.60)
	r.compare("the same with one full-text field", search, base, 0.35)
	return nil
}

// rawSQLite upserts the same rows with one prepared statement per row, a
// thousand per transaction, into the store's own records table.
func rawSQLite(ctx context.Context, file string, n int) (float64, error) {
	st, err := sqlite.Open(ctx, file, sqlite.Options{})
	if err != nil {
		return 0, err
	}
	if err := st.Close(); err != nil {
		return 0, err
	}
	defer os.Remove(file)
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_txlock=immediate")
	if err != nil {
		return 0, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	rows := make([]string, n)
	for i := range rows {
		rows[i] = body(i)
	}
	const upsert = `INSERT INTO records (stream_id, record_key, data, emitted_at, semantic_time, seq, version,
		changed_at, run_no)
VALUES (1, ?, ?, ?, ?, ?, 1, ?, 1)
ON CONFLICT (stream_id, record_key) DO UPDATE SET data = excluded.data, emitted_at = excluded.emitted_at,
semantic_time = excluded.semantic_time, seq = excluded.seq, version = records.version + 1,
changed_at = excluded.changed_at`
	begin := time.Now()
	for start := 0; start < n; start += sliceSize {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return 0, err
		}
		stmt, err := tx.PrepareContext(ctx, upsert)
		if err != nil {
			return 0, err
		}
		for i := start; i < min(start+sliceSize, n); i++ {
			_, err := stmt.ExecContext(ctx, fmt.Sprintf("rec_%09d", i), rows[i], "2026-01-02T03:04:05Z",
				"2026-01-02T03:04:05.000000Z", i+1, "2026-01-02T03:04:05.000000Z")
			if err != nil {
				return 0, err
			}
		}
		if err := tx.Commit(); err != nil {
			return 0, err
		}
	}
	return float64(n) / time.Since(begin).Seconds(), nil
}

// measureMemory shows that the runner's memory does not grow with what passes through it.
func measureMemory(ctx context.Context, c config, dir string, r *report) error {
	for _, n := range []int{c.Records, c.Big} {
		file := filepath.Join(dir, fmt.Sprintf("memory%d.db", n))
		m, err := collect(ctx, dir, file, n, false)
		if err != nil {
			return err
		}
		_ = os.Remove(file)
		r.remember("runner into SQLite", m, 64)
	}
	return nil
}

func median(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(x))
	return s[len(s)/2]
}
