package webhooks

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/service/ownertest"
	"github.com/pdpp-go/pdpp/internal/owner/webhook"
	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/share/readapi"
	"github.com/pdpp-go/pdpp/internal/share/webhooks"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// newKeeper returns webhooks over a store with a connection and two records.
func newKeeper(t *testing.T) (*ownertest.Workspace, *Keeper) {
	h := ownertest.NewWorkspace(t)
	h.Collect(h.Connect(), ownertest.TwoStreamManifest())
	key := credential.NewKey()
	open := func() (credential.Key, error) { return key, nil }
	return h, New(Config{Store: h.Store, Key: open, Opening: open, Now: h.Now,
		GrantService: grants.NewService(h.Store, "", h.Now)})
}

func (h *Keeper) deliverer(w *ownertest.Workspace) *webhooks.Deliverer {
	key, err := h.c.Key()
	w.Must(err)
	read, err := webhooks.NewReader(w.Ctx(), h.c.Store, h.c.GrantService, nil, nil, h.c.Now)
	w.Must(err)
	return &webhooks.Deliverer{Store: h.c.Store, Read: read, Grants: h.c.GrantService, Key: key, Holder: "here",
		Now: time.Now, Log: slog.New(slog.DiscardHandler), Every: time.Millisecond}
}

// A webhook begins where the owner chose, and a replay and a cursor of a delivery lead to the same changes again.
func TestKeeper(t *testing.T) {
	t.Parallel()
	h, k := newKeeper(t)
	got := make(chan string, 100)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got <- r.Header.Get(webhooks.HeaderID)
	}))
	t.Cleanup(receiver.Close)
	fromStart, secret, err := k.AddWebhook(h.Ctx(), webhook.NewWebhook{Address: receiver.URL, Local: true,
		Since: webhook.Beginning, Batch: 1})
	h.Must(err)
	if !strings.HasPrefix(secret, "whsec_") || fromStart.Host == "" || fromStart.Status != "active" {
		t.Errorf("%+v, secret %q", fromStart, secret)
	}
	fromNow, _, err := k.AddWebhook(h.Ctx(), webhook.NewWebhook{Address: receiver.URL, Local: true})
	h.Must(err)
	go k.deliverer(h).Run(h.Ctx())
	first, second := <-got, <-got
	if first == second {
		t.Error("two deliveries have one id")
	}
	if how, err := k.TestWebhook(h.Ctx(), fromStart.ID); err != nil || how.Failure != "" {
		t.Errorf("test: %+v, %v", how, err)
	}
	<-got // the test
	changed, other, err := k.RotateWebhook(h.Ctx(), fromStart.ID, webhook.Rotation{})
	if h.Must(err); changed.ID != fromStart.ID || !strings.HasPrefix(other, "whsec_") || other == secret {
		t.Errorf("%+v, secret %q", changed, other)
	}
	h.Must(k.PauseWebhook(h.Ctx(), fromStart.ID))
	h.Must(k.ReplayWebhook(h.Ctx(), fromStart.ID, webhook.Replay{Stream: "beds", Since: webhook.Beginning}))
	h.Must(k.ResumeWebhook(h.Ctx(), fromStart.ID))
	if again := <-got; again == first {
		t.Error("a replayed delivery has the id of the first one")
	}
	<-got
	h.Must(k.RemoveWebhook(h.Ctx(), fromStart.ID))
	all, err := k.Webhooks(h.Ctx())
	h.Must(err)
	if len(all) != 1 || all[0].ID != fromNow.ID || all[0].Deliveries != 0 {
		t.Errorf("webhooks %+v", all)
	}
}

// What cannot work is refused, with the member that is wrong. A cursor of another reader is none of this one.
func TestKeeperRefuses(t *testing.T) {
	t.Parallel()
	h, k := newKeeper(t)
	grant := func(mode store.GrantMode) grants.Grant {
		g, _, err := k.c.GrantService.Create(h.Ctx(), grants.New{ClientName: "App", Mode: mode,
			Scope: []grants.Stream{{ConnectionID: "cin_garden_1", Stream: "beds", Fields: []string{"id", "name"}}}})
		h.Must(err)
		return g
	}
	mine := grant(store.GrantContinuous)
	for _, c := range []struct {
		n           webhook.NewWebhook
		code, param string
	}{
		{webhook.NewWebhook{Address: "http://ledger.example/"}, "webhook_invalid", ""},
		{webhook.NewWebhook{Address: "https://10.0.0.1/"}, "webhook_invalid", ""},
		{webhook.NewWebhook{Address: "https://a.example/", Batch: 101}, "invalid_request", "batch"},
		{webhook.NewWebhook{Address: "https://a.example/", Since: "soon"}, "invalid_request", "since"},
		{webhook.NewWebhook{Address: "https://a.example/", Name: strings.Repeat("x", 500)}, "invalid_request", "name"},
		{webhook.NewWebhook{Address: "https://a.example/", Streams: []string{"none"}}, "not_found", ""},
		{webhook.NewWebhook{Address: "https://a.example/", GrantID: "gr_none"}, "invalid_token", ""},
		{webhook.NewWebhook{Address: "https://a.example/", GrantID: mine.ID, Streams: []string{"none"}},
			"insufficient_scope", ""},
		{webhook.NewWebhook{Address: "https://a.example/", GrantID: grant(store.GrantSingleUse).ID}, "invalid_request",
			"grant_id"},
	} {
		t.Run(fmt.Sprint(c.n), func(t *testing.T) {
			_, _, err := k.AddWebhook(h.Ctx(), c.n)
			ownertest.WantError(t, err, c.code, c.param)
		})
	}
	w, _, err := k.AddWebhook(h.Ctx(), webhook.NewWebhook{Address: "https://a.example/", GrantID: mine.ID})
	h.Must(err)
	read, err := k.reader(h.Ctx())
	h.Must(err)
	foreign, err := read.EndOf(h.Ctx(), grants.OwnerAccess(), readapi.Following{Stream: "beds"})
	h.Must(err)
	for _, c := range []struct {
		r           webhook.Replay
		code, param string
	}{
		{webhook.Replay{Stream: "beds", Since: foreign}, "invalid_cursor", "cursor"},
		{webhook.Replay{Stream: "beds"}, "invalid_request", "since"},
		{webhook.Replay{Since: webhook.Now}, "invalid_request", "stream"},
		{webhook.Replay{Stream: "none", Since: webhook.Beginning}, "insufficient_scope", ""},
		{webhook.Replay{Letter: "let_none"}, "not_found", ""},
	} {
		ownertest.WantError(t, k.ReplayWebhook(h.Ctx(), w.ID, c.r), c.code, c.param)
	}
	for name, do := range map[string]func() error{
		"pause":  func() error { return k.PauseWebhook(h.Ctx(), "none") },
		"resume": func() error { return k.ResumeWebhook(h.Ctx(), "none") },
		"remove": func() error { return k.RemoveWebhook(h.Ctx(), "none") },
		"rotate": func() error {
			_, _, err := k.RotateWebhook(h.Ctx(), "none", webhook.Rotation{})
			return err
		},
		"replay": func() error { return k.ReplayWebhook(h.Ctx(), "none", webhook.Replay{}) },
		"test":   func() error { _, err := k.TestWebhook(h.Ctx(), "none"); return err },
	} {
		t.Run(name, func(t *testing.T) { ownertest.WantError(t, do(), "not_found", "") })
	}
}
