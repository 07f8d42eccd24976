package storetest

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// checkVersion30 reads what testdata/version_030.sql wrote.
func checkVersion30(t *testing.T, s store.Store) {
	ctx := t.Context()
	at := func(hour, minute int) time.Time { return time.Date(2026, 1, 1, hour, minute, 0, 0, time.UTC) }
	all, err := s.Webhooks(ctx)
	ok(t, err)
	same(t, all, []store.Webhook{{ID: "wh_1", Name: "Ledger", GrantID: "g1", Address: "https://ledger.example/in",
		Sealed: []byte("sealed"), ConnectionID: "c", Streams: []string{"items"}, Batch: 50, CreatedAt: at(0, 0),
		Deliveries: 12,
		WebhookState: store.WebhookState{PausedAt: ptr(at(24, 0)), PauseReason: "refused", Failures: 9,
			FailingSince: ptr(at(1, 0)), NextAt: ptr(at(2, 0)), LastFailure: "http_503", LastSuccessAt: ptr(at(0, 30))},
		Feeds: []store.WebhookFeed{{Stream: "items", Cursor: "place", Round: 2}},
		Letters: []store.WebhookLetter{{ID: "let_1", Stream: "items", Cursor: "earlier", Changes: 3, Reason: "http_422",
			RefusedAt: at(0, 20)}}}})
	triggers, err := s.Triggers(ctx)
	ok(t, err)
	same(t, triggers, []store.RunTrigger{{ID: "trg_1", ConnectionID: "c", Kind: "github", Sealed: []byte("sealed"),
		CreatedAt: at(0, 0), Calls: 4, LastCalledAt: ptr(at(0, 10))}})
}
