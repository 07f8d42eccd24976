package storetest

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// testPageTickets checks that a ticket is valid once, before its expiry, for its question, while that is open and its
// run holds the connection.
func testPageTickets(t *testing.T, s store.Store) {
	ctx := t.Context()
	l := begin(t, s, "c", "r1")
	digest, other := []byte{0, 0xff, '\'', 1}, []byte{0, 0xff, '\'', 2}
	until := Now.Add(30 * time.Second)
	ask := func(l store.Lease, id string) {
		t.Helper()
		ok(t, s.OpenInteraction(ctx, l, store.Interaction{RequestID: id, Kind: protocol.AskManualAction, OpenedAt: Now}, Now))
	}
	put := func(run, id string, d []byte, now time.Time) error {
		return s.PutPageTicket(ctx, run, id, d, until, now)
	}
	take := func(run, id string, d []byte, now time.Time) error {
		return s.TakePageTicket(ctx, run, id, d, now)
	}
	ask(l, "q")
	ask(l, "q2")
	fails(t, put("r9", "q", digest, Now), store.ErrNotFound)
	fails(t, put("r1", "q9", digest, Now), store.ErrNotFound)
	fails(t, put("r1", "q", digest, Now.Add(ttl)), store.ErrNotFound) // the lease has expired
	fails(t, take("r1", "q", digest, Now), store.ErrNotFound)
	fails(t, take("r1", "q", nil, Now), store.ErrNotFound) // an empty digest is not a secret

	ok(t, put("r1", "q", other, Now))
	ok(t, put("r1", "q", digest, Now))
	fails(t, take("r1", "q", other, Now), store.ErrNotFound) // the replaced ticket
	fails(t, take("r1", "q2", digest, Now), store.ErrNotFound)
	fails(t, take("r9", "q", digest, Now), store.ErrNotFound)
	fails(t, take("r1", "q", digest, until), store.ErrNotFound)
	fails(t, take("r1", "q", digest, Now.Add(ttl)), store.ErrNotFound)
	ok(t, take("r1", "q", digest, until.Add(-time.Microsecond)))
	fails(t, take("r1", "q", digest, Now), store.ErrNotFound) // once

	ok(t, put("r1", "q", digest, Now))
	var taken atomic.Int32
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if take("r1", "q", digest, Now) == nil {
				taken.Add(1)
			}
		})
	}
	all.Wait()
	same(t, taken.Load(), 1)

	ok(t, put("r1", "q", digest, Now))
	ok(t, s.CloseInteraction(ctx, l, "q", protocol.ResponseSuccess, Now))
	fails(t, take("r1", "q", digest, Now), store.ErrNotFound)
	fails(t, put("r1", "q", digest, Now), store.ErrNotFound)
	ok(t, put("r1", "q2", digest, Now))
	next(t, s, l, "r2", Now)
	fails(t, take("r1", "q2", digest, Now), store.ErrNotFound)
}
