package deliveries

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
	"github.com/pdpp-go/pdpp/internal/owner/webhook"
	"github.com/pdpp-go/pdpp/internal/quality/pagetest"
	"github.com/pdpp-go/pdpp/internal/view"
)

var noon = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

// owner has webhooks in every state, and keeps what it was asked to do.
type owner struct {
	api.Owner
	webhooks []webhook.Webhook
	triggers []webhook.RunTrigger
	asked    []string
	fail     error
	failure  string
}

func (o *owner) Webhooks(context.Context) ([]webhook.Webhook, error) { return o.webhooks, o.fail }
func (o *owner) Grants(context.Context) ([]api.Grant, error) {
	return []api.Grant{{ID: "gr_1", ClientName: "Tidewatch", Status: "active", Mode: "continuous"},
		{ID: "gr_2", ClientName: "Once", Status: "active", Mode: "single_use"},
		{ID: "gr_3", ClientName: "Over", Status: "revoked", Mode: "continuous"}}, nil
}

func (o *owner) AddWebhook(_ context.Context, n webhook.NewWebhook) (webhook.Webhook, string, error) {
	o.asked = append(o.asked, "add "+n.Address+" "+n.GrantID+" "+n.Since)
	if n.Address == "http://ledger.example/" {
		return webhook.Webhook{}, "", api.Invalid("address", "Changes would leave this server without encryption.",
			"Use https.")
	}
	return webhook.Webhook{ID: "wh_9", Host: "ledger.example"}, "whsec_pear", nil
}

func (o *owner) Overview(context.Context) (view.Overview, error) {
	var all view.Overview
	all.Connections = []view.Connection{{ID: "cin_pond", DisplayName: "Pond", SourceKind: "account"}}
	return all, o.fail
}

func (o *owner) Triggers(context.Context) ([]webhook.RunTrigger, error) { return o.triggers, o.fail }
func (o *owner) AddTrigger(_ context.Context, n webhook.NewTrigger) (webhook.RunTrigger, string, error) {
	return webhook.RunTrigger{ID: "tr_9", ConnectionID: n.ConnectionID, Kind: n.Kind,
		Address: "https://pdpp.lantern.example/hooks/tr_9"}, "pear", o.did("add trigger " + n.ConnectionID + " " + n.Kind)
}
func (o *owner) RemoveTrigger(_ context.Context, id string) error {
	return o.did("remove trigger " + id)
}

func (o *owner) did(what string) error {
	o.asked = append(o.asked, what)
	return o.fail
}

func (o *owner) PauseWebhook(_ context.Context, id string) error          { return o.did("pause " + id) }
func (o *owner) ResumeWebhook(_ context.Context, id string) error         { return o.did("resume " + id) }
func (o *owner) RemoveWebhook(_ context.Context, id string) error         { return o.did("remove " + id) }
func (o *owner) Runtime(context.Context) (api.Runtime, error)             { return api.Runtime{}, nil }
func (o *owner) SavedSearches(context.Context) ([]api.SavedSearch, error) { return nil, nil }
func (o *owner) ReplayWebhook(_ context.Context, id string, r webhook.Replay) error {
	return o.did("replay " + id + " " + r.Letter)
}

func (o *owner) RotateWebhook(_ context.Context, id string, r webhook.Rotation) (webhook.Webhook, string, error) {
	return webhook.Webhook{ID: id, Host: "ledger.example"}, "whsec_plum", o.did(fmt.Sprint("rotate ", id, " ", r.AtOnce))
}
func (o *owner) TestWebhook(_ context.Context, id string) (webhook.TestResult, error) {
	return webhook.TestResult{Failure: o.failure}, o.did("test " + id)
}

func serve(o *owner, method, address string, form url.Values) *httptest.ResponseRecorder {
	mux := http.NewServeMux()
	ui.Mount(mux, Routes(Config{Owner: o, Now: func() time.Time { return noon }, Log: slog.New(slog.DiscardHandler)}),
		func(r ui.Route) http.Handler { return r.Handler })
	r := httptest.NewRequest(method, address, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	return w
}

func everyState() *owner {
	week := noon.AddDate(0, 0, -7)
	return &owner{triggers: []webhook.RunTrigger{
		{ID: "tr_1", ConnectionID: "cin_pond", Kind: "generic", Address: "https://pdpp.lantern.example/hooks/tr_1", Calls: 41,
			LastCalledAt: &week},
		{ID: "tr_2", ConnectionID: "cin_gone", Kind: "github", Address: "https://pdpp.lantern.example/hooks/tr_2"},
	}, webhooks: []webhook.Webhook{
		{ID: "wh_1", Name: "Ledger", Host: "ledger.example", Status: "active", Deliveries: 1204, LastSuccessAt: &week,
			Streams: []string{"transactions"}},
		{ID: "wh_2", Name: "Kelp", Host: "kelp.example", Status: "failing", LastFailure: "http_503", GrantID: "gr_1",
			Letters: []webhook.Letter{{ID: "let_1", Stream: "letters", Changes: 3, Reason: "http_422"}}},
		{ID: "wh_3", Name: "Mine", Host: "10.0.0.2", Status: "paused", PauseReason: "owner"},
		{ID: "wh_4", Name: "Away", Host: "away.example", Status: "paused", PauseReason: "refused", LastFailure: "timeout"},
		{ID: "wh_5", Name: "Left", Host: "left.example", Status: "paused", PauseReason: "gone", LastFailure: "http_410"},
		{ID: "wh_6", Name: "Over", Host: "over.example", Status: "paused", PauseReason: "grant", GrantID: "gr_3"},
	}}
}

func TestPages(t *testing.T) {
	t.Parallel()
	pages := pagetest.Pages{Folder: "pages"}
	pages.Add(t, "every state", serve(everyState(), "GET", ui.DeliveriesAddress, nil))
	pages.Add(t, "none", serve(&owner{}, "GET", ui.DeliveriesAddress, nil))
	pages.Add(t, "added", serve(&owner{}, "POST", ui.DeliveriesAddress,
		url.Values{"address": {"https://ledger.example/in"}}))
	pages.Add(t, "refused", serve(&owner{}, "POST", ui.DeliveriesAddress, url.Values{
		"address": {"http://ledger.example/"}, "grant": {"gr_1"}, "since": {"beginning"}, "local": {"yes"}}))
	pages.Add(t, "rotated", serve(everyState(), "POST", ui.DeliveriesAddress+"/wh_1/secret", nil))
	for _, kind := range []string{"generic", "github"} {
		pages.Add(t, "trigger added "+kind, serve(everyState(), "POST", ui.DeliveriesAddress+"/triggers",
			url.Values{"source": {"cin_pond"}, "kind": {kind}}))
	}
	pages.Check(t)
	failing := serve(&owner{fail: errors.New("disk I/O error")}, "GET", ui.DeliveriesAddress, nil)
	if failing.Code != http.StatusInternalServerError {
		t.Errorf("status %d", failing.Code)
	}
}

// Each button does what it is called, and shows the list again.
func TestButtons(t *testing.T) {
	t.Parallel()
	o := everyState()
	for _, c := range []struct{ action, want string }{{"pause", "pause wh_1"}, {"resume", "resume wh_1"},
		{"remove", "remove wh_1"}, {"test", "test wh_1"}, {"replay", "replay wh_1 let_1"}} {
		o.asked = nil
		w := serve(o, "POST", ui.DeliveriesAddress+"/wh_1/"+c.action, url.Values{"letter": {"let_1"}})
		if !slices.Equal(o.asked, []string{c.want}) || w.Code != http.StatusSeeOther ||
			w.Header().Get("Location") != ui.DeliveriesAddress {
			t.Errorf("%s: asked %v, answered %d %s", c.action, o.asked, w.Code, w.Header().Get("Location"))
		}
		o.fail = api.NotFound("There is no such webhook.", "")
		if w := serve(o, "POST", ui.DeliveriesAddress+"/wh_1/"+c.action, nil); w.Code != http.StatusNotFound {
			t.Errorf("%s: answered %d", c.action, w.Code)
		}
		o.fail = nil
	}
	o.asked = nil
	serve(o, "POST", ui.DeliveriesAddress+"/wh_1/secret", nil)
	serve(o, "POST", ui.DeliveriesAddress+"/wh_1/secret", url.Values{"at-once": {"yes"}})
	if !slices.Equal(o.asked, []string{"rotate wh_1 false", "rotate wh_1 true"}) {
		t.Errorf("asked %v", o.asked)
	}
	o.fail = api.NotFound("There is no such webhook.", "")
	if w := serve(o, "POST", ui.DeliveriesAddress+"/wh_1/secret", nil); w.Code != http.StatusNotFound {
		t.Errorf("rotate: answered %d", w.Code)
	}
	o.fail, o.asked = nil, nil
	serve(o, "POST", ui.DeliveriesAddress+"/triggers/tr_1/remove", nil)
	if !slices.Equal(o.asked, []string{"remove trigger tr_1"}) {
		t.Errorf("asked %v", o.asked)
	}
}
