package oauth_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// An app may ask by view, profile and values of the resource field. The owner sees the fields and values that these
// mean, and so does the app. Undeclared names are rejected and never mean everything.
func TestRequestByViewProfileAndResource(t *testing.T) {
	w := newWorld(t)
	declares := strings.Replace(journal, `"display_name":"Journal","streams":[`,
		`"display_name":"Journal","profiles":[{"id":"brief","streams":[{"name":"notes","view":"headings"},`+
			`{"name":"letters"}]}],"streams":[`, 1)
	declares = strings.Replace(declares, `"primary_key":"id","consent_time_field"`,
		`"primary_key":"id","views":[{"id":"headings","fields":["title"]}],"selection":{"resources":true,`+
			`"resource_field":"title"},"consent_time_field"`, 1)
	_, err := w.store.PutManifest(t.Context(), "journal", []byte(declares), noon)
	check(t, err)
	client := w.register(`{"client_name":"Notes viewer","redirect_uris":["` + back + `"]}`).Client
	for _, c := range []struct{ streams, want, missing string }{
		{`{"name":"notes","view":"headings"}`, `[{"name":"notes","connection_id":"c1","fields":["id","title"]}]`, ""},
		{`{"name":"notes","view":"headings","fields":["body","colour"]}`,
			`[{"name":"notes","connection_id":"c1","fields":["body","id","title"]}]`, ""},
		{`{"name":"notes","view":"margins"}`, `null`, "notes"},
		{`{"profile":"brief","connector_id":"journal"}`,
			`[{"name":"notes","connection_id":"c1","fields":["id","title"]},{"name":"letters","connection_id":"c1"}]`, ""},
		{`{"profile":"brief","time_range":{"since":"2026-01-01T00:00:00Z"}}`,
			`[{"name":"notes","connection_id":"c1","fields":["id","title"],"time_range":{"since":"2026-01-01T00:00:00Z"}}]`, ""},
		{`{"profile":"long"}`, `null`, "long"},
		{`{"name":"notes","resources":["Tea"],"resource_field":"body"}`,
			`[{"name":"notes","connection_id":"c1","resources":["Tea"],"resource_field":"title"}]`, ""},
		{`{"profile":"brief","name":"notes"}`, "", ""},
		{`{"profile":"brief","resources":["x"]}`, "", ""},
		{`{}`, "", ""},
	} {
		form := pushed(client)
		form.Set("authorization_details", `[{"type":"pdpp","purpose":"Show your notes","streams":[`+c.streams+`]}]`)
		a := w.post("/oauth/par", form)
		if c.want == "" {
			if a.status != http.StatusBadRequest {
				t.Errorf("%s is taken: %d %s", c.streams, a.status, a.raw)
			}
			continue
		}
		request := a.Request[strings.LastIndex(a.Request, ":")+1:]
		r, err := w.grants.RequestByID(t.Context(), request)
		check(t, err)
		if strings.Join(r.Missing, " ") != c.missing {
			t.Errorf("%s: missing is %q, want %q", c.streams, r.Missing, c.missing)
		}
		if c.want == "null" {
			if len(r.Scope) > 0 {
				t.Errorf("%s would grant %+v", c.streams, r.Scope)
			}
			continue
		}
		answer := w.post("/oauth/token", exchange(client, w.approve(request)))
		var details []struct{ Streams json.RawMessage }
		check(t, json.Unmarshal([]byte(answer.raw[strings.Index(answer.raw, `[{"type"`):strings.LastIndex(answer.raw,
			"]")+1]),
			&details))
		if got := string(details[0].Streams); got != c.want {
			t.Errorf("%s is granted as %s, want %s", c.streams, got, c.want)
		}
	}
}
