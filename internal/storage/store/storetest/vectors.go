package storetest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// vectorOf returns a vector at an angle in degrees.
func vectorOf(t testing.TB, degrees float64) store.Vector {
	t.Helper()
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	v, err := store.NewVector([]float32{float32(cos), float32(sin)})
	ok(t, err)
	return v
}

// chooseEmbedding stores a choice that a process has claimed.
func chooseEmbedding(t testing.TB, s store.Store, generation string) {
	t.Helper()
	ok(t, s.SetEmbedding(t.Context(), store.Embedding{Generation: generation, Kind: "ollama", Model: "m", ChangedAt: Now}))
	claimed, err := s.ClaimEmbedding(t.Context(), generation, "here", Now, Now.Add(time.Minute))
	ok(t, err)
	same(t, claimed, true)
}

func feedOf(t testing.TB, s store.Store, connection, stream string) store.VectorFeed {
	t.Helper()
	feeds, err := s.VectorFeeds(t.Context())
	ok(t, err)
	for _, f := range feeds {
		if f.ConnectionID == connection && f.Stream == stream {
			return f
		}
	}
	return store.VectorFeed{ConnectionID: connection, Stream: stream}
}

// putVectors stores the vectors of fields of the newest version of a record.
func putVectors(t testing.TB, s store.Store, connection, stream, key string, degrees map[string]float64) {
	t.Helper()
	r, err := s.Record(t.Context(), connection, stream, key)
	ok(t, err)
	one := store.RecordVectors{ID: r.ID, Seq: r.Seq}
	for field, angle := range degrees {
		one.Fields = append(one.Fields, store.FieldVector{Field: field, Digest: []byte(fmt.Sprint(angle)),
			Vector: vectorOf(t, angle)})
	}
	ok(t, s.PutVectors(t.Context(), store.VectorMove{Generation: "g1", Holder: "here", Until: Now.Add(time.Minute),
		From: feedOf(t, s, connection, stream), Fields: []string{"title", "note"}, Seq: r.Seq,
		Records: []store.RecordVectors{one}}))
}

// nearest returns the keys of the records that are most like 0 degrees.
func nearest(t testing.TB, s store.Store, q store.VectorQuery) []string {
	t.Helper()
	q.Vector = vectorOf(t, 0)
	found, err := s.Nearest(t.Context(), q)
	ok(t, err)
	return keysOf(found)
}

func testEmbedding(t *testing.T, s store.Store) {
	ctx := t.Context()
	_, err := s.Embedding(ctx)
	fails(t, err, store.ErrNotFound)
	ok(t, s.EndEmbedding(ctx))
	e := store.Embedding{Generation: "g1", Kind: "openai", Address: "https://api.example/v1/embeddings", Model: "m",
		Sealed: []byte{0, 0xff}, ChangedAt: Now}
	ok(t, s.SetEmbedding(ctx, e))
	read := func() store.Embedding {
		t.Helper()
		e, err := s.Embedding(ctx)
		ok(t, err)
		return e
	}
	same(t, read(), e)
	claim := func(generation, holder string, after time.Duration) bool {
		t.Helper()
		claimed, err := s.ClaimEmbedding(ctx, generation, holder, Now.Add(after), Now.Add(after+time.Minute))
		ok(t, err)
		return claimed
	}
	same(t, []bool{claim("g1", "one", 0), claim("g1", "two", 0), claim("g0", "one", 0), claim("g1", "one", 1),
		claim("g1", "two", 2*time.Minute)}, []bool{true, false, false, true, true})
	later := Now.Add(time.Hour)
	e.EmbeddingState = store.EmbeddingState{Failures: 2, LastFailure: "timeout", NextAt: &later}
	fails(t, s.SetEmbeddingState(ctx, "g1", "one", e.EmbeddingState), store.ErrNotFound)
	ok(t, s.SetEmbeddingState(ctx, "g1", "two", e.EmbeddingState))
	same(t, read(), e)
	same(t, []bool{claim("g1", "one", 0), claim("g1", "one", time.Hour)}, []bool{false, true})

	begin(t, s, "c", "r1", titles)
	move := store.VectorMove{Generation: "g1", Holder: "one", From: store.VectorFeed{ConnectionID: "c", Stream: Stream},
		Fields: []string{"title"}, Seq: 7, Until: later.Add(time.Minute)}
	ok(t, s.PutVectors(ctx, move))
	same(t, read().EmbeddingState, store.EmbeddingState{})
	feeds, err := s.VectorFeeds(ctx)
	ok(t, err)
	same(t, feeds, []store.VectorFeed{{ConnectionID: "c", Stream: Stream, Fields: []string{"title"}, Seq: 7}})
	fails(t, s.PutVectors(ctx, move), store.ErrNotFound) // the feed has moved
	move.From = feeds[0]
	for _, other := range []func(*store.VectorMove){func(m *store.VectorMove) { m.Holder = "two" },
		func(m *store.VectorMove) { m.Generation = "g0" }, func(m *store.VectorMove) { m.From.Fields = nil },
		func(m *store.VectorMove) { m.From.Stream = "none" }} {
		m := move
		other(&m)
		fails(t, s.PutVectors(ctx, m), store.ErrNotFound)
	}
	e.Sealed, e.EmbeddingState = []byte("other"), store.EmbeddingState{}
	ok(t, s.SetEmbedding(ctx, e)) // the same generation
	feeds, err = s.VectorFeeds(ctx)
	ok(t, err)
	same(t, len(feeds), 1)
	fails(t, s.PutVectors(ctx, move), store.ErrNotFound) // without a claim
	e.Generation = "g2"
	ok(t, s.SetEmbedding(ctx, e))
	feeds, err = s.VectorFeeds(ctx)
	ok(t, err)
	same(t, feeds, nil)
}

// Vectors follow their records: a changed or deleted record is not found until its new text has a vector, and another
// choice or none deletes them all.
func testVectors(t *testing.T, s store.Store) {
	ctx := t.Context()
	l := begin(t, s, "c", "r1", titles)
	put(t, s, l, titled("a", "apple", "one"), titled("b", "boat", "two"), titled("c", "cloud", "three"))
	chooseEmbedding(t, s, "g1")
	putVectors(t, s, "c", Stream, "a", map[string]float64{"title": 40, "note": 90})
	putVectors(t, s, "c", Stream, "b", map[string]float64{"title": 100, "note": 10})
	putVectors(t, s, "c", Stream, "c", map[string]float64{"title": 20})
	same(t, nearest(t, s, store.VectorQuery{}), []string{"b", "c", "a"})
	same(t, nearest(t, s, store.VectorQuery{Limit: 2}), []string{"b", "c"})
	same(t, nearest(t, s, store.VectorQuery{MaxBytes: 1}), []string{"b"})
	found, err := s.Nearest(ctx, store.VectorQuery{Vector: store.Vector("of another model")})
	ok(t, err)
	same(t, found, nil)

	b, err := s.Record(ctx, "c", Stream, "b")
	ok(t, err)
	digests, err := s.VectorDigests(ctx, []int64{b.ID, 99})
	ok(t, err)
	same(t, digests, map[store.VectorField][]byte{{RecordID: b.ID, Field: "title"}: []byte("100"),
		{RecordID: b.ID, Field: "note"}: []byte("10")})

	put(t, s, l, titled("b", "bridge", "two"), tombstone("c"))
	same(t, nearest(t, s, store.VectorQuery{}), []string{"a"})
	b, err = s.Record(ctx, "c", Stream, "b")
	ok(t, err)
	again := store.RecordVectors{ID: b.ID, Seq: b.Seq, Fields: []store.FieldVector{{Field: "note", Digest: []byte("10")}}}
	ok(t, s.PutVectors(ctx, store.VectorMove{Generation: "g1", Holder: "here", Until: Now.Add(time.Minute),
		From: feedOf(t, s, "c", Stream), Fields: []string{"title", "note"}, Seq: b.Seq,
		Records: []store.RecordVectors{again}}))
	same(t, nearest(t, s, store.VectorQuery{}), []string{"b", "a"}) // the unchanged field is kept
	n, err := s.CountVectors(ctx)
	ok(t, err)
	same(t, n, int64(4)) // two of a, one of b, and that of the tombstone, which the feed has not come to

	ok(t, s.PutVectors(ctx, store.VectorMove{Generation: "g1", Holder: "here", Until: Now.Add(time.Minute),
		From: feedOf(t, s, "c", Stream), Fields: []string{"title"}, Seq: b.Seq}))
	same(t, nearest(t, s, store.VectorQuery{}), []string{"a"}) // the note is not embedded any more
	chooseEmbedding(t, s, "g2")
	same(t, nearest(t, s, store.VectorQuery{}), nil)
	ok(t, s.EndEmbedding(ctx))
	_, err = s.Embedding(ctx)
	fails(t, err, store.ErrNotFound)
}

// Filters hold: only allowed records come, and only vectors of allowed fields influence which and in what order.
func testVectorFilters(t *testing.T, s store.Store) {
	spec := store.StreamSpec{Name: Stream, SearchFields: []string{"title", "note"}, TimeField: "at"}
	chooseEmbedding(t, s, "g1")
	type one struct {
		connection, key, month string
		angles                 map[string]float64
	}
	var all []one
	drawn := rand.New(rand.NewPCG(1, 2))
	for _, connection := range []string{"c", "d"} {
		l := begin(t, s, connection, "r-"+connection, spec)
		for i := range 20 {
			o := one{connection, fmt.Sprintf("%s%02d", connection, i), fmt.Sprintf("2026-%02d-01T00:00:00.000000Z", i%12+1),
				map[string]float64{"title": drawn.Float64() * 180, "note": drawn.Float64() * 180}}
			put(t, s, l, slice.Record{Stream: Stream, Key: o.key, Data: []byte(`{"title":"t","note":"n","secret":"s"}`),
				EmittedAt: "x", SemanticTime: o.month})
			putVectors(t, s, connection, Stream, o.key, o.angles)
			all = append(all, o)
		}
	}
	for name, c := range map[string]struct {
		in     []store.AccessFilter
		allows func(o one) (fields []string)
	}{
		"connection": {[]store.AccessFilter{{ConnectionID: "c"}}, func(o one) []string {
			return map[string][]string{"c": {"title", "note"}}[o.connection]
		}},
		"field": {[]store.AccessFilter{{ConnectionID: "c", Stream: Stream, Fields: []string{"title", "secret"}}},
			func(o one) []string { return map[string][]string{"c": {"title"}}[o.connection] }},
		"no field": {[]store.AccessFilter{{ConnectionID: "c", Stream: Stream, Fields: []string{}}},
			func(one) []string { return nil }},
		"a field for each": {[]store.AccessFilter{{ConnectionID: "c", Stream: Stream, Fields: []string{"title"}},
			{ConnectionID: "d", Stream: Stream, Fields: []string{"note"}}}, func(o one) []string {
			return map[string][]string{"c": {"title"}, "d": {"note"}}[o.connection]
		}},
		"keys": {[]store.AccessFilter{{ConnectionID: "c", Stream: Stream, Keys: []string{"c03", "c07", "d01"}}},
			func(o one) []string {
				return map[string][]string{"c03": {"title", "note"}, "c07": {"title", "note"}}[o.key]
			}},
		"window": {[]store.AccessFilter{{ConnectionID: "d", Stream: Stream, Since: "2026-03-01T00:00:00.000000Z",
			Until: "2026-06-01T00:00:00.000000Z"}}, func(o one) []string {
			if o.connection == "d" && o.month >= "2026-03" && o.month < "2026-06" {
				return []string{"title", "note"}
			}
			return nil
		}},
		"nothing": {[]store.AccessFilter{}, func(one) []string { return nil }},
	} {
		best := map[string]float64{}
		for _, o := range all {
			for _, f := range c.allows(o) {
				if was, seen := best[o.key]; !seen || o.angles[f] < was {
					best[o.key] = o.angles[f]
				}
			}
		}
		var want []string
		for key := range best {
			want = append(want, key)
		}
		slices.SortFunc(want, func(a, b string) int { return int(math.Copysign(1, best[a]-best[b])) })
		got, err := s.Nearest(t.Context(), store.VectorQuery{In: c.in, Vector: vectorOf(t, 0)})
		ok(t, err)
		if keys := keysOf(got); len(keys) != len(want) {
			t.Errorf("%s: found %v, want %v", name, keys, want)
			continue
		}
		for i, r := range got { // rounding to a byte moves an angle by less than half a degree
			if math.Abs(best[r.Key]-best[want[i]]) > 1 {
				t.Errorf("%s: %s is at place %d with %.2f degrees, where %s is with %.2f", name, r.Key, i, best[r.Key],
					want[i], best[want[i]])
			}
		}
	}
	got, err := s.Nearest(t.Context(), store.VectorQuery{In: []store.AccessFilter{{ConnectionID: "c", Stream: Stream,
		Fields: []string{"title"}}}, Vector: vectorOf(t, 0), Limit: 1})
	ok(t, err)
	same(t, string(got[0].Data), `{"title":"t"}`)
}

// The vector of a record that the owner deletes for good goes with it.
func testVectorDeletion(t *testing.T, s store.Store) {
	ctx := t.Context()
	l := begin(t, s, "c", "r1", titles)
	put(t, s, l, titled("a", "apple", "one"), titled("b", "boat", "two"))
	chooseEmbedding(t, s, "g1")
	putVectors(t, s, "c", Stream, "a", map[string]float64{"title": 10})
	putVectors(t, s, "c", Stream, "b", map[string]float64{"title": 20})
	ok(t, s.RequestDeletion(ctx, store.Deletion{ID: "del", AskedAt: Now, PurgeAfter: Now.Add(time.Hour),
		DeletionScope: store.DeletionScope{Kind: store.DeleteRecord, ConnectionID: "c", Stream: Stream, Key: "a"}}))
	for _, now := range []time.Time{Now, Now.Add(2 * time.Hour)} {
		for idle := false; !idle; {
			var err error
			idle, err = s.AdvanceDeletion(ctx, now)
			ok(t, err)
		}
		same(t, nearest(t, s, store.VectorQuery{}), []string{"b"})
	}
	n, err := s.CountVectors(ctx)
	ok(t, err)
	same(t, n, int64(1))
}
