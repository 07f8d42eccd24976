package storetest

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// BenchmarkNearest measures a search of n vectors of 384 components, and reports how many times as long it takes as
// comparing the same vectors in memory.
func BenchmarkNearest(b *testing.B, s store.Store, n int) {
	FillRecords(b, s, n)
	chooseEmbedding(b, s, "g1")
	drawn := rand.New(rand.NewPCG(1, 2))
	draw := func() store.Vector {
		numbers := make([]float32, 384)
		for i := range numbers {
			numbers[i] = float32(drawn.NormFloat64())
		}
		v, err := store.NewVector(numbers)
		ok(b, err)
		return v
	}
	var all []store.Vector
	for from := (store.VectorFeed{ConnectionID: "bench", Stream: Stream}); from.Seq < int64(n); {
		page, err := s.ListRecords(b.Context(), store.RecordQuery{AfterSeq: from.Seq, Limit: 5000,
			AccessFilter: store.AccessFilter{ConnectionID: "bench", Stream: Stream, Fields: []string{}}})
		ok(b, err)
		m := store.VectorMove{Generation: "g1", Holder: "here", Until: Now.Add(time.Minute), From: from,
			Fields: []string{"title"}, Seq: page[len(page)-1].Seq}
		for _, r := range page {
			all = append(all, draw())
			m.Records = append(m.Records, store.RecordVectors{ID: r.ID, Seq: r.Seq,
				Fields: []store.FieldVector{{Field: "title", Digest: []byte("d"), Vector: all[len(all)-1]}}})
		}
		ok(b, s.PutVectors(b.Context(), m))
		from.Fields, from.Seq = m.Fields, m.Seq
	}
	wanted, part := draw(), []store.AccessFilter{{ConnectionID: "bench", Stream: Stream, Fields: []string{"title"}}}
	begun := time.Now()
	const rounds = 5
	for range rounds {
		best := store.NearestRecords{Limit: 25}
		for i, v := range all {
			similarity, _ := wanted.Cosine(v)
			best.Add(int64(i), similarity)
		}
	}
	memory := time.Since(begun) / rounds
	searches := 0
	for ; b.Loop(); searches++ {
		found, err := s.Nearest(b.Context(), store.VectorQuery{In: part, Vector: wanted, Limit: 25})
		if err != nil || len(found) != 25 {
			b.Fatal(len(found), err)
		}
	}
	b.ReportMetric(float64(b.Elapsed())/float64(searches)/float64(memory), "times-memory")
	b.ReportMetric(float64(memory)/float64(time.Millisecond), "memory-ms")
}
