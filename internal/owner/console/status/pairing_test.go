package status

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// paired are codes of all kinds.
func paired() []api.DeviceCode {
	code := func(id, status string) api.DeviceCode {
		return api.DeviceCode{ID: id, ConnectorID: "tide", DisplayName: "Tide", Status: status,
			ExpiresAt: noon.Add(15 * time.Minute)}
	}
	connected, expired := code("dcode_2", api.CodeConnected), code("dcode_3", api.CodeExpired)
	connected.DeviceName, connected.ConnectionID = "Studio desktop", "cin_tide_1"
	expired.ExpiresAt = noon.Add(-time.Minute)
	return []api.DeviceCode{code("dcode_1", api.CodeWaiting), connected, expired, code("dcode_4", api.CodeCancelled)}
}

// The command is shown once, and the page updates live when a computer has used it.
func TestThePageTurnsToConnectedByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKeeper()
		k.offered = []api.Connector{{ID: "tide", DisplayName: "Tide", OnDevices: true}}
		k.codes = &shared[[]api.DeviceCode]{value: paired()}
		h := serve(k)
		w := send(t, h, http.MethodPost, "/sources/add/tide/device", url.Values{
			"display_name": {"Tide, studio"}, "since": {"2026-01-31"}, "folders": {" ~/tide \n\n/srv/tide\n"}}, false)
		page := w.Body.String()
		if w.Code != http.StatusOK || !strings.Contains(page, "setup --base-url https://pdpp.example --code lde_secret") ||
			!strings.Contains(page, "Waiting for a computer to report in") {
			t.Fatalf("%d: %s", w.Code, page)
		}
		n := k.wished
		if n.ConnectorID != "tide" || n.DisplayName != "Tide, studio" ||
			n.CollectionScope.Since.Format(dateForm) != "2026-01-31" ||
			strings.Join(n.CollectionScope.SourceRoots, " ") != "~/tide /srv/tide" {
			t.Errorf("wished for %+v, %+v", n, n.CollectionScope)
		}
		live := first(find(parse(t, page), "id", "main")[0], "data-live")
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		events, done := listen(ctx, h, live)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if got := events.take(); len(got) > 0 {
			t.Errorf("nothing has changed, and it is told %q", got)
		}
		all := paired()
		all[0].Status, all[0].DeviceName, all[0].ConnectionID = api.CodeConnected, "Studio desktop", "cin_tide_1"
		k.codes.set(all)
		<-done // there is nothing to wait for any more
		got := strings.Join(events.take(), "\n")
		if !strings.Contains(got, "Connected: Studio desktop") || !strings.Contains(got, "/sources/cin_tide_1") ||
			strings.Contains(got, "lde_") {
			t.Errorf("told %s", got)
		}
		time.Sleep(2 * time.Second) // the hub stops without subscribers
	})
}

func TestALineThatCannotBeMadeSaysWhy(t *testing.T) {
	k := newKeeper()
	k.offered = []api.Connector{{ID: "tide", DisplayName: "Tide", OnDevices: true}, {ID: "reef", DisplayName: "Reef"}}
	k.codes = &shared[[]api.DeviceCode]{value: paired()}
	h := serve(k)
	if w := send(t, h, http.MethodPost, "/sources/add/tide/device", url.Values{"since": {"soon"}, "folders": {"x"}},
		false); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "That is not a date.") ||
		!strings.Contains(w.Body.String(), ">x</textarea>") {
		t.Errorf("%d: %s", w.Code, w.Body)
	}
	if w := send(t, h, http.MethodGet, "/sources/add/reef/device", nil, false); w.Code != http.StatusNotFound {
		t.Errorf("what this server collects answered %d", w.Code)
	}
	if w := send(t, h, http.MethodPost, "/settings/devices/codes/dcode_1/cancel", nil,
		false); w.Code != http.StatusSeeOther ||
		strings.Join(k.did, ";") != "cancel code dcode_1" {
		t.Errorf("%d, did %q", w.Code, k.did)
	}
}
