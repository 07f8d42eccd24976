package storetest

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// Writable is a store that exposes the pool it writes through.
type Writable interface {
	store.Store
	Writer() *sql.DB
}

// LooksTotal and LooksDue are the number of connections in the benchmark of the scheduler's pass, and how many of
// them are due.
const LooksTotal, LooksDue = 100_000, 1000

// FillLooks fills an empty store with LooksTotal connections. LooksDue of them, evenly spread, are due at Now, and
// the rest never. Half of them have run.
func FillLooks(ctx context.Context, s Writable) error {
	fill := strings.NewReplacer("{total}", fmt.Sprint(LooksTotal), "{step}", fmt.Sprint(LooksTotal/LooksDue),
		"{now}", Now.Format(time.RFC3339), "{far}", farFuture.Format(time.RFC3339))
	for _, query := range []string{
		`INSERT INTO connections (connection_id, connector_id, display_name, status, source_kind, manifest_generation,
			created_at, updated_at, look_at)
			WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {total} - 1)
			SELECT 'cin_example_' || (1000000 + i), 'example', 'Example', 'active', 'account', 1, '{now}', '{now}',
				CASE WHEN i % {step} = 0 THEN '' ELSE '{far}' END FROM n`,
		`INSERT INTO run_leases (connection_id, holder, generation, cancel_requested, event_seq)
			WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {total} / 2 - 1)
			SELECT 'cin_example_' || (1000000 + i), '', 1, 0, 2 FROM n`,
		`INSERT INTO interactions (run_id, request_id, connection_id, kind, message, stream, opened_at, closed_at, status)
			WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {total} / 10 - 1)
			SELECT 'run_' || i, 'q', 'cin_example_' || (1000000 + i), 'otp', 'Code?', '', '{now}', '{now}', 'success' FROM n`,
		`ANALYZE`, // as a server does on its own, a little later
	} {
		if _, err := s.Writer().ExecContext(ctx, fill.Replace(query)); err != nil {
			return err
		}
	}
	return nil
}

// BenchmarkLooks measures a pass of the scheduler over a store that FillLooks filled: it claims the due checks and
// postpones them.
func BenchmarkLooks(b *testing.B, s Writable) {
	ok(b, FillLooks(b.Context(), s))
	b.ReportAllocs()
	passes := 0
	for now := Now; b.Loop(); passes++ {
		all, err := s.ClaimChecks(b.Context(), now, checkHold, 2*LooksDue)
		ok(b, err)
		same(b, len(all), LooksDue)
		now = now.Add(time.Minute)
		for i := range all {
			all[i].At = now
		}
		ok(b, s.PutChecks(b.Context(), all))
	}
	b.ReportMetric(float64(passes*LooksDue)/b.Elapsed().Seconds(), "looks/s")
}

// BenchmarkIdleLooks measures a pass that finds nothing due, with the list of requested runs that each page reads.
func BenchmarkIdleLooks(b *testing.B, s Writable) {
	ok(b, FillLooks(b.Context(), s))
	postponed, err := s.ClaimChecks(b.Context(), Now, farFuture.Sub(Now), 2*LooksDue)
	ok(b, err)
	same(b, len(postponed), LooksDue)
	b.ReportAllocs()
	for b.Loop() {
		all, err := s.ClaimChecks(b.Context(), Now, checkHold, 2*LooksDue)
		ok(b, err)
		same(b, len(all), 0)
		requests, err := s.ListRunRequests(b.Context(), "")
		ok(b, err)
		same(b, len(requests), 0)
	}
}

// BenchmarkSignals measures the poll of a store without signals.
func BenchmarkSignals(b *testing.B, s Writable) {
	ok(b, FillLooks(b.Context(), s))
	b.ReportAllocs()
	for b.Loop() {
		_, err := s.Signals(b.Context(), Now)
		ok(b, err)
	}
}
