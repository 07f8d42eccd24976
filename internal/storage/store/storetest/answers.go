package storetest

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

func testAnswers(t *testing.T, s store.Store) {
	ctx := t.Context()
	l := begin(t, s, "c", "r1")
	sealed := []byte{0, 0xff, '\'', 0}
	key := []byte{1, 0, 0xfe}
	ask := func(l store.Lease, id string, key []byte) {
		t.Helper()
		ok(t, s.OpenInteraction(ctx, l, store.Interaction{RequestID: id, Kind: protocol.AskOTP, Key: key, OpenedAt: Now},
			Now))
	}
	none := func(run, id string) {
		t.Helper()
		_, err := s.SealedAnswer(ctx, run, id)
		fails(t, err, store.ErrNotFound)
	}
	ask(l, "q", key)
	ask(l, "here", nil)
	open, err := s.OpenInteractions(ctx, "c")
	ok(t, err)
	same(t, open[0].Key, nil) // by id: the one that is answered where it was asked
	same(t, open[1].Key, key)

	none("r1", "q")
	none("r9", "q")
	fails(t, s.AnswerInteraction(ctx, "r9", "q", sealed, Now), store.ErrNotFound)
	fails(t, s.AnswerInteraction(ctx, "r1", "q9", sealed, Now), store.ErrNotFound)
	fails(t, s.AnswerInteraction(ctx, "r1", "here", sealed, Now), store.ErrNotFound)
	fails(t, s.AnswerInteraction(ctx, "r1", "q", sealed, Now.Add(ttl)), store.ErrNotFound) // the lease has expired
	fails(t, s.AnswerInteraction(ctx, "r1", "q", sealed, farFuture), store.ErrNotFound)
	none("r1", "q")
	ok(t, s.AnswerInteraction(ctx, "r1", "q", sealed, Now.Add(ttl-time.Microsecond)))
	fails(t, s.AnswerInteraction(ctx, "r1", "q", []byte("another"), Now), store.ErrExists)
	got, err := s.SealedAnswer(ctx, "r1", "q")
	ok(t, err)
	same(t, got, sealed)

	// A closed question has no answer and accepts none.
	ok(t, s.CloseInteraction(ctx, l, "q", protocol.ResponseSuccess, Now))
	none("r1", "q")
	fails(t, s.AnswerInteraction(ctx, "r1", "q", sealed, Now), store.ErrNotFound)
	ask(l, "second", key)
	ok(t, s.AnswerInteraction(ctx, "r1", "second", sealed, Now))
	l = next(t, s, l, "r2", Now)
	none("r1", "second")
	ask(l, "third", key)
	ok(t, s.AnswerInteraction(ctx, "r2", "third", sealed, Now))
	_, err = s.AbandonExpiredRuns(ctx, Now.Add(ttl), 10)
	ok(t, err)
	none("r2", "third")
	fails(t, s.AnswerInteraction(ctx, "r2", "third", sealed, Now), store.ErrNotFound)
}
