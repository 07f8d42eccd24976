package postgres

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/storetest"
	"github.com/pdpp-go/pdpp/internal/storage/store/storetest/scratch"
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
	return open(b, scratch.CreateSchema(b), Options{})
}

// BenchmarkRawUpsert measures pgx without the store: one upsert by unnest per 1,000 rows, each in its own
// transaction, into the same table.
func BenchmarkRawUpsert(b *testing.B) {
	const total, size = 100_000, 1000
	records := storetest.BenchRecords(0, total, 1)
	url := scratch.CreateSchema(b)
	s, err := Open(b.Context(), url, Options{})
	if err != nil {
		b.Fatal(err)
	}
	s.Close()
	conn, err := pgx.Connect(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(context.Background())
	rows := 0
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		for from := 0; from < total; from += size {
			keys, data, at := make([]string, size), make([]string, size), make([]string, size)
			for i := range size {
				r := &records[from+i]
				keys[i], data[i], at[i] = r.Key, string(r.Data), r.EmittedAt
			}
			_, err := conn.Exec(b.Context(), `INSERT INTO records (stream_id, run_no, changed_at, seq, version, record_key, data,
				emitted_at, semantic_time)
				SELECT $1, 1, '2026-01-02T03:04:05.000000Z', $2 + u.n, 1, u.key, u.data, u.at, u.at
				FROM unnest($3::text[], $4::text[], $5::text[]) WITH ORDINALITY AS u (key, data, at, n)
				ON CONFLICT (stream_id, record_key) DO UPDATE SET data = excluded.data, seq = excluded.seq,
				version = records.version + 1`,
				n, from, keys, data, at)
			if err != nil {
				b.Fatal(err)
			}
		}
		rows += total
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
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
