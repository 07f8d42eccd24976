package auth_test

import (
	"net/http"
	"testing"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// Every way in and out leaves an entry, and none of them holds what opens something.
func TestComingsAndGoingsAreRecorded(t *testing.T) {
	b := newBed(t)
	b.signIn(browser(), "a wrong password")
	b.signIn(browser(), "a wrong password")
	c := b.signedIn()
	b.request("POST", "/confirm").sending("password", "a wrong password").by(c)
	b.request("POST", "/confirm").sending("password", password).by(c)
	b.request("POST", "/logout").by(c)
	b.request("POST", "/logout").with("Cookie", "pdpp_session=made-up").by(browser())
	b.request("GET", "/_ref/x").with("Authorization", "Bearer pdpp_ot_nothing").by(http.DefaultClient)

	all, err := b.st.AuditEntries(t.Context(), store.AuditQuery{})
	if err != nil {
		t.Fatal(err)
	}
	type line struct {
		kind, outcome, reason, actor, object string
		times                                int64
	}
	want := []line{
		{"sign_in", "refused", "invalid_token", "stranger", "owner_token", 1},
		{"sign_out", "done", "", "session", "", 1},
		{"sign_in", "done", "", "session", "confirmation", 1},
		{"sign_in", "refused", "wrong_password", "session", "confirmation", 1},
		{"sign_in", "done", "", "session", "password", 1},
		{"sign_in", "refused", "wrong_password", "stranger", "password", 2},
		{"password_change", "done", "", "server", "", 1}, // the first, at the start
	}
	if len(all) != len(want) {
		t.Fatalf("%d entries: %+v", len(all), all)
	}
	for i, e := range all {
		if got := (line{e.Kind, e.Outcome, e.Reason, e.Actor, e.Object, e.Times}); got != want[i] {
			t.Errorf("entry %d is %+v, want %+v", i, got, want[i])
		}
		if e.Address != "127.0.0.1" && e.Actor != "server" {
			t.Errorf("%s came from %q", e.Kind, e.Address)
		}
	}
	if all[1].ActorID == "" || all[1].ActorID != all[2].ActorID {
		t.Error("the session is not told apart")
	}
}
