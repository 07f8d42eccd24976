package routes_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/share/oauth"
	"github.com/pdpp-go/pdpp/internal/share/readapi"
)

// What clients get from the running parts is as the document describes it, too.
func TestAnswersToClientsAreDescribed(t *testing.T) {
	h := newHouse(t)
	c, err := h.client.Connect(t.Context(),
		api.Connect{ConnectorID: "orchard", Fields: map[string]string{"token": "ladder"}})
	h.must(err)
	h.run(c.ID)
	_, token, err := h.client.CreateGrant(t.Context(), api.NewGrant{ClientName: "Recipe box", Purpose: "Plan jam.",
		Mode:    "continuous",
		Streams: []api.GrantStream{{ConnectionID: c.ID, Stream: "trees"}}})
	h.must(err)
	cursors, err := grants.NewCursors(t.Context(), h.direct.Store, h.at)
	h.must(err)
	routes := slices.Concat(
		readapi.Routes(readapi.Config{Grants: h.direct.GrantService, Cursors: cursors, Store: h.direct.Store, Now: h.now}),
		oauth.Routes(oauth.Config{Grants: h.direct.GrantService, Issuer: "https://pdpp.lantern.example"}))
	handler := checked{t, muxOf(routes)}
	for _, q := range []struct {
		target, form string
		want         int
	}{
		{"/v1/streams", "", 200}, {"/v1/streams/trees", "", 200}, {"/v1/streams/none", "", 0}, {"/v1/schema", "", 200},
		{"/v1/connectors", "", 200},
		{"/v1/streams/trees/records?limit=1", "", 200}, {"/v1/streams/trees/records?changes_since=beginning", "", 200},
		{"/v1/streams/trees/records?cursor=x", "", 400}, {"/v1/streams/trees/records/t%2F2", "", 200},
		{"/v1/streams/trees/records/none", "", 404},
		{"/v1/search?q=plum", "", 200}, {"/v1/search", "", 400},
		{"/.well-known/oauth-authorization-server", "", 200}, {"/.well-known/oauth-protected-resource", "", 200},
		{"/.well-known/oauth-protected-resource/mcp", "", 200},
		{"/oauth/authorize", "", 401}, {"/oauth/par", "client_id=none", 400}, {"/oauth/token", "grant_type=none", 400},
		{"/introspect", url.Values{"token": {token}}.Encode(), 200}, {"/introspect", "token=none", 200},
		{"/oauth/revoke", url.Values{"token": {token}}.Encode(), 200},
		{"/v1/streams", "", 403},
	} {
		method := http.MethodGet
		if q.form != "" {
			method = http.MethodPost
		}
		r := httptest.NewRequest(method, q.target, strings.NewReader(q.form))
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if q.want != 0 && w.Code != q.want || q.want == 0 && w.Code < 400 {
			t.Errorf("%s %s: %d %s", method, q.target, w.Code, w.Body)
		}
	}
}
