package status

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// signedOut returns a connection that uses a browser on this server and has an expired session.
func signedOut(t *testing.T) *keeper {
	t.Helper()
	return newKeeper(plant(t, "scheduled-healthy", `{"connection": {"connection_id": "con_a",`+
		` "source_kind": "browser_collector"},
		"last_run": {"run_id": "run_8", "status": "failed", "started_at": "2026-03-10T11:30:00Z",`+
		` "ended_at": "2026-03-10T11:31:00Z",
			"failure": {"reason": "connector_reported_failed", "code": "photobox_session_required"}}}`))
}

// asks lets a run of it wait for its owner on a page.
func asks(k *keeper) {
	until := noon.Add(30 * time.Minute)
	k.active = &api.Run{ID: "run_9", ConnectionID: "con_a", DisplayName: "Photobox", Status: "running", Trigger: "manual",
		StartedAt: noon.Add(-time.Minute)}
	k.runs = []api.Run{*k.active}
	k.question = &api.Question{RunID: "run_9", RequestID: "int_1", Kind: "manual_action", Message: "Sign in to Photobox.",
		ExpiresAt: &until, Page: api.SignInPage("con_a")}
}

// The owner gets to the page from wherever the verdict asks for it, and a run is asked for
// only where none is under way.
func TestSignInOpensThePage(t *testing.T) {
	k := signedOut(t)
	h := serve(k)
	for _, address := range []string{"/sources", "/sources/con_a"} {
		if got := send(t, h, http.MethodGet, address, nil, false).Body.String(); !strings.Contains(got,
			`action="/sources/con_a/page"`) || !strings.Contains(got, ">Sign in</button>") {
			t.Errorf("%s does not lead to the page", address)
		}
	}
	got := send(t, h, http.MethodPost, "/sources/con_a/page", url.Values{}, false)
	if got.Code != http.StatusSeeOther || got.Header().Get("Location") != "/sources/con_a/page?opening" {
		t.Errorf("%d to %s", got.Code, got.Header().Get("Location"))
	}
	if got := send(t, h, http.MethodPost, "/sources/con_a/page", url.Values{},
		true); got.Header().Get("HX-Redirect") != "/sources/con_a/page?opening" {
		t.Errorf("in place: %v", got.Header())
	}
	asks(k)
	send(t, h, http.MethodPost, "/sources/con_a/page", url.Values{}, false)
	if diff := cmp.Diff([]string{"run con_a", "run con_a"}, k.did); diff != "" {
		t.Errorf("done (-want +got):\n%s", diff)
	}
	for _, address := range []string{"/sources/con_a", "/runs/run_9"} {
		if got := send(t, h, http.MethodGet, address, nil, false).Body.String(); !strings.Contains(got,
			`href="/sources/con_a/page"`) {
			t.Errorf("%s does not lead to the page of the question", address)
		}
	}
	other := serve(busy(t))
	if got := send(t, other, http.MethodGet, "/sources/con_a/page", nil, false); got.Code != http.StatusNotFound {
		t.Errorf("a source without a page: %d", got.Code)
	}
	if got := send(t, h, http.MethodGet, "/sources/con_a/page/stream", nil, false); got.Code != http.StatusNotFound {
		t.Errorf("a server without pages: %d", got.Code)
	}
}

// An answer from the page is for the question that the page belongs to, and for no other.
func TestAnswerFromThePage(t *testing.T) {
	k := signedOut(t)
	h := serve(k)
	post := func(status, question string) int {
		return send(t, h, http.MethodPost, "/sources/con_a/page/answer",
			url.Values{"status": {status}, "interaction_id": {question}}, false).Code
	}
	if got := post("success", "int_1"); got != http.StatusNotFound {
		t.Errorf("nothing is asked: %d", got)
	}
	asks(k)
	if got := post("success", "int_0"); got != http.StatusNotFound {
		t.Errorf("another question: %d", got)
	}
	post("success", "int_1")
	post("cancelled", "int_1")
	k.question = nil // the run has not come to it
	post("cancelled", "")
	if diff := cmp.Diff([]string{"answer run_9 int_1 success ", "answer run_9 int_1 cancelled ", "cancel run_9"},
		k.did); diff != "" {
		t.Errorf("done (-want +got):\n%s", diff)
	}
}
