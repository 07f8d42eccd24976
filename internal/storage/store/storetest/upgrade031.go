package storetest

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// checkVersion31 reads what testdata/version_031.sql wrote.
func checkVersion31(t *testing.T, s store.Store) {
	ctx := t.Context()
	at := func(hour int) time.Time { return time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC) }
	e, err := s.Embedding(ctx)
	ok(t, err)
	same(t, e, store.Embedding{Generation: "emb_1", Kind: "ollama", Address: "http://127.0.0.1:11434", Model: "small",
		Sealed: []byte("sealed"), ChangedAt: at(0),
		EmbeddingState: store.EmbeddingState{Failures: 2, LastFailure: "http_503", NextAt: ptr(at(1))}})
	feeds, err := s.VectorFeeds(ctx)
	ok(t, err)
	same(t, feeds, []store.VectorFeed{{ConnectionID: "c", Stream: "items", Fields: []string{"title"}, Seq: 3}})
	found, err := s.Nearest(ctx, store.VectorQuery{Vector: store.Vector("abcdef")})
	ok(t, err)
	same(t, keysOf(found), []string{"a"})
}
