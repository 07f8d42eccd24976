package webhooks

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// app is a client with a grant.
type app struct {
	grant grants.Grant
	token string
}

func (w *world) app(mode store.GrantMode, scope ...grants.Stream) app {
	w.t.Helper()
	for i := range scope {
		scope[i].ConnectionID = "mine"
	}
	g, token, err := w.grants.Create(w.t.Context(), grants.New{ClientName: "Reader", Purpose: "reading", Mode: mode,
		Scope: scope})
	check(w.t, err)
	return app{g, token}
}

// ask sends a request to the routes of subscriptions.
func (w *world) ask(method, path, token, body string) (int, map[string]any) {
	w.t.Helper()
	mux := http.NewServeMux()
	s := &Subscriptions{Store: w.store, Read: w.d.Read, Key: w.d.Key, Now: w.d.Now}
	for _, route := range s.Routes() {
		mux.Handle(route.Pattern, route.Handle)
	}
	r := httptest.NewRequestWithContext(w.t.Context(), method, "/v1/event-subscriptions"+path, strings.NewReader(body))
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, r)
	out := map[string]any{}
	check(w.t, json.Unmarshal(answer.Body.Bytes(), &out))
	return answer.Code, out
}

const anAddress = `{"address":"https://ledger.example/in"`

// Whatever an app asks for, it gets no stream, connection or field outside its grant, no private address, and nothing
// of another app.
func TestSubscriptionAttacks(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, st store.Store) {
		w := newWorld(t, st)
		w.put(note("n1", 1, "pears", "x"), letter("l1", "hello"))
		mine := w.app("", grants.Stream{Stream: "notes", Fields: []string{"id", "title"}})
		other := w.app("", grants.Stream{Stream: "letters"})
		once := w.app(store.GrantSingleUse, grants.Stream{Stream: "notes"})
		over := w.app("", grants.Stream{Stream: "notes"})
		check(t, w.grants.Revoke(t.Context(), over.grant.ID))
		code, made := w.ask("POST", "", other.token, anAddress+`}`)
		if code != http.StatusOK {
			t.Fatalf("%d %v", code, made)
		}
		theirs := "/" + made["id"].(string)
		before := w.all()
		for _, c := range []struct {
			name, method, path, token, body string
			code                            int
		}{
			{"no token", "POST", "", "", anAddress + `}`, 401},
			{"an invented token", "POST", "", "pdpp_gt_none", anAddress + `}`, 401},
			{"a grant that is over", "POST", "", over.token, anAddress + `}`, 403},
			{"a grant for one reading", "POST", "", once.token, anAddress + `}`, 403},
			{"a stream of nobody", "POST", "", mine.token, anAddress + `,"streams":["secrets"]}`, 403},
			{"a stream of another app", "POST", "", mine.token, anAddress + `,"streams":["letters"]}`, 403},
			{"one that is granted and one that is not", "POST", "", mine.token, anAddress + `,"streams":["notes","letters"]}`,
				403},
			{"another connection", "POST", "", mine.token, anAddress + `,"connection_id":"cin_other"}`, 403},
			{"a grant of its choice", "POST", "", mine.token, anAddress + `,"grant_id":"` + other.grant.ID + `"}`, 400},
			{"a private network", "POST", "", mine.token, anAddress + `,"local":true}`, 400},
			{"http", "POST", "", mine.token, `{"address":"http://ledger.example/in"}`, 400},
			{"this machine", "POST", "", mine.token, `{"address":"https://127.0.0.1/in"}`, 400},
			{"the metadata of a cloud", "POST", "", mine.token, `{"address":"https://169.254.169.254/latest"}`, 400},
			{"no address", "POST", "", mine.token, `{}`, 400},
			{"no JSON", "POST", "", mine.token, `address`, 400},
			{"the one of another app", "DELETE", theirs, mine.token, "", 404},
			{"one that was never there", "DELETE", "/wh_none", mine.token, "", 404},
		} {
			if code, answer := w.ask(c.method, c.path, c.token, c.body); code != c.code {
				t.Errorf("%s: answered %d, want %d: %v", c.name, code, c.code, answer)
			}
		}
		if code, answer := w.ask("GET", "", mine.token, ""); code != http.StatusOK || len(answer["data"].([]any)) != 0 {
			t.Errorf("%d %v", code, answer)
		}
		if after := w.all(); len(after) != 1 || after[0].ID != before[0].ID {
			t.Errorf("there are now %d", len(after))
		}
		for i := range mostOfGrant + 1 {
			want := http.StatusOK
			if i == mostOfGrant {
				want = http.StatusBadRequest
			}
			if code, answer := w.ask("POST", "", mine.token, anAddress+`}`); code != want {
				t.Errorf("subscription %d: %d %v", i, code, answer)
			}
		}
	})
}

// A subscription delivers what its grant allows, from now on, signed with the secret that the app got. It is listed
// without that secret, ends with its grant, and the app can remove it.
func TestSubscriptionDelivers(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, st store.Store) {
		w := newWorld(t, st)
		w.put(note("n1", 1, "pears", "zebra"), letter("l1", "axolotl"))
		mine := w.app("", grants.Stream{Stream: "notes", Fields: []string{"id", "title"}})
		code, made := w.ask("POST", "", mine.token, anAddress+`}`)
		secret, _ := made["secret"].(string)
		if code != http.StatusOK || !strings.HasPrefix(secret, secretPrefix) {
			t.Fatalf("%d %v", code, made)
		}
		stored := w.all()[0]
		if stored.GrantID != mine.grant.ID || stored.Local || !slices.Equal(stored.Streams, []string{"notes"}) {
			t.Errorf("stored %+v", stored)
		}
		stored.Address, stored.Local = w.to, true // the receiver of this test, which an app could not name
		check(t, st.DeleteWebhook(t.Context(), stored.ID))
		check(t, st.AddWebhook(t.Context(), stored))
		w.pass()
		w.put(note("n2", 2, "boots", "quokka"), letter("l2", "narwhal"))
		w.pass()
		if len(w.received) != 1 {
			t.Fatalf("%d deliveries", len(w.received))
		}
		got := w.received[0]
		same(t, got.verified(secret), []string{"true"})
		same(t, w.took(), []string{"notes: n2"})
		for _, word := range []string{"zebra", "quokka", "axolotl", "narwhal", "private"} {
			if strings.Contains(got.body, word) {
				t.Errorf("%q was delivered: %s", word, got.body)
			}
		}
		code, listed := w.ask("GET", "", mine.token, "")
		if text := fmt.Sprint(listed); code != http.StatusOK || !strings.Contains(text, stored.ID) ||
			strings.Contains(text, secret) {
			t.Errorf("%d %v", code, listed)
		}
		if code, _ := w.ask("DELETE", "/"+stored.ID, mine.token, ""); code != http.StatusOK || len(w.all()) != 0 {
			t.Errorf("%d, %+v", code, w.all())
		}
	})
}
