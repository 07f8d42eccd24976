package storetest

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

func webhooksOf(t *testing.T, s store.Store) []store.Webhook {
	t.Helper()
	all, err := s.Webhooks(t.Context())
	ok(t, err)
	return all
}

func testWebhooks(t *testing.T, s store.Store) {
	ctx := t.Context()
	same(t, webhooksOf(t, s), nil)
	fails(t, s.DeleteWebhook(ctx, "a"), store.ErrNotFound)
	ok(t, s.CreateGrant(ctx, store.Grant{ID: "g", Mode: store.GrantContinuous, CreatedAt: Now}, nil))
	a := store.Webhook{ID: "a", Name: "Ledger", GrantID: "g", Address: "https://ledger.example/", Sealed: []byte{0, 0xff},
		Local: true, ConnectionID: "c", Streams: []string{"items", "notes"}, Batch: 7, CreatedAt: Now,
		Feeds: []store.WebhookFeed{{Stream: "items", Cursor: "x"}, {Stream: "notes", Cursor: "y", Round: 2}}}
	b := store.Webhook{ID: "b", Address: "https://b.example/", Sealed: []byte("s"), Batch: 1,
		CreatedAt: Now.Add(-time.Hour)}
	for _, w := range []store.Webhook{a, b} {
		ok(t, s.AddWebhook(ctx, w))
	}
	fails(t, s.AddWebhook(ctx, b), store.ErrExists)
	same(t, webhooksOf(t, s), []store.Webhook{b, a})

	b.WebhookState = store.WebhookState{PausedAt: &Now, PauseReason: "refused", Failures: 3, FailingSince: &Now,
		NextAt: &Now, LastFailure: "timeout", LastSuccessAt: &Now}
	ok(t, s.SetWebhookState(ctx, "b", "", b.WebhookState))
	same(t, webhooksOf(t, s), []store.Webhook{b, a})
	fails(t, s.SetWebhookState(ctx, "none", "", b.WebhookState), store.ErrNotFound)

	ok(t, s.SetWebhookSecret(ctx, "b", b.Sealed, []byte("new")))
	fails(t, s.SetWebhookSecret(ctx, "b", b.Sealed, []byte("newer")), store.ErrNotFound)
	b.Sealed = []byte("new")
	same(t, webhooksOf(t, s), []store.Webhook{b, a})

	ok(t, s.RewindWebhook(ctx, "a", "items", "back", ""))
	ok(t, s.RewindWebhook(ctx, "a", "other", "", ""))
	fails(t, s.RewindWebhook(ctx, "none", "items", "", ""), store.ErrNotFound)
	same(t, webhooksOf(t, s)[1].Feeds, []store.WebhookFeed{{Stream: "items", Cursor: "back", Round: 1},
		{Stream: "notes", Cursor: "y", Round: 2}, {Stream: "other", Round: 1}})
	ok(t, s.DeleteWebhook(ctx, "a"))
	same(t, webhooksOf(t, s), []store.Webhook{b})
}

// Only the process that has the claim advances a webhook, and not after the owner paused it or set it back.
func testWebhookClaims(t *testing.T, s store.Store) {
	ctx := t.Context()
	ok(t, s.AddWebhook(ctx, store.Webhook{ID: "a", Address: "https://a.example/", Batch: 1, CreatedAt: Now}))
	claim := func(holder string, after time.Duration) bool {
		t.Helper()
		claimed, err := s.ClaimWebhook(ctx, "a", holder, Now.Add(after), Now.Add(after+time.Minute))
		ok(t, err)
		return claimed
	}
	feed := store.WebhookFeed{Stream: "items"}
	move := func(holder, cursor string, letter *store.WebhookLetter) error {
		return s.AdvanceWebhook(ctx, store.WebhookMove{ID: "a", Holder: holder, From: feed, Cursor: cursor, Letter: letter,
			Now: Now, Until: Now.Add(time.Minute)})
	}
	same(t, []bool{claim("one", 0), claim("two", 0), claim("one", time.Second)}, []bool{true, false, true})
	ok(t, move("one", "1", nil))
	feed.Cursor = "1"
	fails(t, move("two", "2", nil), store.ErrNotFound)
	fails(t, s.SetWebhookState(ctx, "a", "two", store.WebhookState{}), store.ErrNotFound)
	same(t, claim("two", 2*time.Minute), true)
	fails(t, move("one", "2", nil), store.ErrNotFound)
	letter := store.WebhookLetter{ID: "l", Stream: "items", Cursor: "1", Changes: 3, Reason: "http_422", RefusedAt: Now}
	ok(t, move("two", "2", &letter))
	w := webhooksOf(t, s)[0]
	same(t, w.Letters, []store.WebhookLetter{letter})
	same(t, []any{w.Deliveries, w.Feeds[0].Cursor, *w.LastSuccessAt}, []any{int64(1), "2", Now})

	next := Now.Add(time.Hour)
	ok(t, s.SetWebhookState(ctx, "a", "two", store.WebhookState{Failures: 1, NextAt: &next}))
	same(t, []bool{claim("two", 59*time.Minute), claim("one", time.Hour)}, []bool{false, true})
	ok(t, s.RewindWebhook(ctx, "a", "items", "1", "l"))
	fails(t, move("one", "3", nil), store.ErrNotFound)
	w = webhooksOf(t, s)[0]
	same(t, w.Letters, nil)
	same(t, w.Feeds, []store.WebhookFeed{{Stream: "items", Cursor: "1", Round: 1}})
	same(t, claim("one", time.Hour), true)
	ok(t, s.SetWebhookSecret(ctx, "a", []byte{}, []byte("new")))
	fails(t, move("one", "3", nil), store.ErrNotFound)
	same(t, claim("one", time.Hour), true)
	ok(t, s.SetWebhookState(ctx, "a", "", store.WebhookState{PausedAt: &Now}))
	fails(t, move("one", "3", nil), store.ErrNotFound)
	same(t, claim("one", 2*time.Hour), false)
}

func testTriggers(t *testing.T, s store.Store) {
	ctx := t.Context()
	listed := func() []store.RunTrigger {
		t.Helper()
		all, err := s.Triggers(ctx)
		ok(t, err)
		return all
	}
	same(t, listed(), nil)
	begin(t, s, "c", "r1", titles)
	a := store.RunTrigger{ID: "a", ConnectionID: "c", Kind: "github", Sealed: []byte{0, 0xff}, CreatedAt: Now}
	ok(t, s.AddTrigger(ctx, a))
	fails(t, s.AddTrigger(ctx, a), store.ErrExists)
	ok(t, s.CountTrigger(ctx, "a", Now))
	fails(t, s.CountTrigger(ctx, "b", Now), store.ErrNotFound)
	a.Calls, a.LastCalledAt = 1, &Now
	same(t, listed(), []store.RunTrigger{a})
	ok(t, s.DeleteTrigger(ctx, "a"))
	fails(t, s.DeleteTrigger(ctx, "a"), store.ErrNotFound)
	same(t, listed(), nil)
}
