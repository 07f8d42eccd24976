package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// Bare is a store that can run the statements of a page without building evidence.
type Bare interface {
	store.Store
	ReadEvidenceBare(ctx context.Context, q evidence.Query) (rows int, err error)
}

// BenchmarkEvidence measures a page of n connections as evidence, by range and by name, and the bare reads of the
// same statements.
func BenchmarkEvidence(b *testing.B, s Bare, n int) {
	ok(b, FillEvidence(b.Context(), s, n))
	page := evidence.Query{Limit: n}
	named := evidence.Query{}
	for i := range n {
		named.ConnectionIDs = append(named.ConnectionIDs, evidenceID(i))
	}
	for name, q := range map[string]evidence.Query{"page": page, "named": named} {
		b.Run(name+"/evidence", func(b *testing.B) {
			b.ReportAllocs()
			var all []evidence.Evidence
			for b.Loop() {
				var err error
				all, err = s.Evidence(b.Context(), q)
				ok(b, err)
			}
			same(b, len(all), n)
		})
		b.Run(name+"/bare", func(b *testing.B) {
			b.ReportAllocs()
			rows := 0
			for b.Loop() {
				var err error
				rows, err = s.ReadEvidenceBare(b.Context(), q)
				ok(b, err)
			}
			b.ReportMetric(float64(rows), "rows")
		})
	}
}

// MeasureEvidence reads a page of all n connections of a filled store, as evidence and bare in turn, and returns the
// times of the rounds. A first round, which reads the manifests and prepares the statements, does not count.
func MeasureEvidence(ctx context.Context, s Bare, n, rounds int) (built, bare []time.Duration, err error) {
	q := evidence.Query{Limit: n}
	for round := range rounds + 1 {
		begin := time.Now()
		if _, err := s.Evidence(ctx, q); err != nil {
			return nil, nil, err
		}
		middle := time.Now()
		if _, err := s.ReadEvidenceBare(ctx, q); err != nil {
			return nil, nil, err
		}
		if round > 0 {
			built, bare = append(built, middle.Sub(begin)), append(bare, time.Since(middle))
		}
	}
	return built, bare, nil
}
