package notify

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// The owner is notified once of each pause that a receiver caused, whatever number of processes look, and after the
// quiet hours. Other pauses are left out, and so are those of a time without targets.
func TestPausesAreNotified(t *testing.T) {
	t.Parallel()
	st := openStore(t)
	set := func(id, reason string, at time.Time) {
		t.Helper()
		state := store.WebhookState{PauseReason: reason}
		if reason != "" {
			state.PausedAt = &at
		}
		if err := st.SetWebhookState(t.Context(), id, "", state); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []string{"wh_refused", "wh_gone", "wh_owner", "wh_grant", "wh_active"} {
		if err := st.AddWebhook(t.Context(), store.Webhook{ID: id, Name: "Ledger " + id, Batch: 1,
			Address: "https://ledger.example/secret-place", CreatedAt: noon}); err != nil {
			t.Fatal(err)
		}
		_, reason, _ := strings.Cut(id, "_")
		if reason != "active" {
			set(id, reason, noon)
		}
	}
	quiet, err := ParseQuiet("11:00-13:00 UTC")
	if err != nil {
		t.Fatal(err)
	}
	h := newHook(t, nil)
	passes := func(at time.Time) {
		t.Helper()
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				s := &Sender{Store: st, Quiet: quiet, Base: "https://pdpp.lantern.example"}
				if err := s.DeliverPauses(t.Context(), st, at); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
	want := func(n int) {
		t.Helper()
		if got := h.got(); len(got) != n {
			t.Fatalf("%d notifications, want %d: %+v", len(got), n, got)
		}
	}
	if err := st.PutTarget(t.Context(), h.target("pt_1")); err != nil {
		t.Fatal(err)
	}
	passes(noon)
	want(0)
	passes(noon.Add(2 * time.Hour))
	passes(noon.Add(3 * time.Hour))
	want(2)
	for _, r := range h.got() {
		if !strings.Contains(r.body, `"link":"https://pdpp.lantern.example/sharing/deliveries"`) ||
			!strings.Contains(r.body, "Deliveries are paused") || strings.Contains(r.body, "secret-place") {
			t.Errorf("message %s", r.body)
		}
	}
	set("wh_gone", "", noon)
	set("wh_gone", store.WebhookRefused, noon.Add(4*time.Hour)) // it was resumed, and stopped again
	passes(noon.Add(5 * time.Hour))
	want(3)
	if err := st.DeleteTarget(t.Context(), "pt_1"); err != nil {
		t.Fatal(err)
	}
	set("wh_gone", store.WebhookGone, noon.Add(6*time.Hour))
	passes(noon.Add(7 * time.Hour))
	if err := st.PutTarget(t.Context(), h.target("pt_2")); err != nil {
		t.Fatal(err)
	}
	passes(noon.Add(8 * time.Hour))
	want(3)
}
