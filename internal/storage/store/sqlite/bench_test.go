package sqlite

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/storetest"
)

func BenchmarkCommitSlice(b *testing.B) {
	for _, size := range []int{1000, 4000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) { storetest.BenchmarkCommitSlice(b, fresh(b), size) })
		b.Run(fmt.Sprint(size, "/search"), func(b *testing.B) { storetest.BenchmarkCommitSlice(b, fresh(b), size, "title") })
	}
}

func BenchmarkUpdateSlice(b *testing.B) {
	b.Run("1000", func(b *testing.B) { storetest.BenchmarkUpdateSlice(b, fresh(b), 1000) })
	b.Run("1000/search", func(b *testing.B) { storetest.BenchmarkUpdateSlice(b, fresh(b), 1000, "title") })
}

// fresh opens an empty store.
func fresh(b *testing.B) store.Store {
	b.Helper()
	return openFor(b, filepath.Join(b.TempDir(), "pdpp.db"), Options{})
}

// BenchmarkRawUpsert measures the driver without the store: one prepared statement per row, 1,000 rows per
// transaction, the same table and settings.
func BenchmarkRawUpsert(b *testing.B) {
	const total, size = 100_000, 1000
	records := storetest.BenchRecords(0, total, 1)
	path := filepath.Join(b.TempDir(), "raw.db")
	s, err := Open(b.Context(), path, Options{})
	if err != nil {
		b.Fatal(err)
	}
	s.Close()
	db, err := sql.Open("sqlite", dataSourceName(path, time.Second, writerCacheKiB, "journal_mode(WAL)",
		"synchronous(FULL)")+"&_txlock=immediate")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	stmt, err := db.Prepare(`INSERT INTO records (stream_id, run_no, changed_at, seq, version, record_key, data,
		emitted_at, semantic_time)
		VALUES (?, 1, '2026-01-02T03:04:05.000000Z', ?, 1, ?, ?, ?, ?)
		ON CONFLICT (stream_id, record_key) DO UPDATE SET data = excluded.data, seq = excluded.seq, version = version + 1`)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	rows := 0
	for n := 0; b.Loop(); n++ {
		for from := 0; from < total; from += size {
			tx, err := db.Begin()
			if err != nil {
				b.Fatal(err)
			}
			stmt := tx.Stmt(stmt)
			for i := range records[from : from+size] {
				r := &records[from+i]
				if _, err := stmt.Exec(n, from+i, r.Key, string(r.Data), r.EmittedAt, r.SemanticTime); err != nil {
					b.Fatal(err)
				}
			}
			if err := tx.Commit(); err != nil {
				b.Fatal(err)
			}
		}
		rows += total
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkEvidence(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { storetest.BenchmarkEvidence(b, fresh(b).(storetest.Bare), n) })
	}
}

func BenchmarkLooks(b *testing.B) { storetest.BenchmarkLooks(b, fresh(b).(storetest.Writable)) }

func BenchmarkIdleLooks(b *testing.B) { storetest.BenchmarkIdleLooks(b, fresh(b).(storetest.Writable)) }

func BenchmarkSignals(b *testing.B) { storetest.BenchmarkSignals(b, fresh(b).(storetest.Writable)) }

func BenchmarkNearest(b *testing.B) { storetest.BenchmarkNearest(b, fresh(b), 100_000) }

func BenchmarkReads(b *testing.B) {
	for _, n := range []int{10_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { storetest.BenchmarkReads(b, fresh(b), n) })
	}
}
