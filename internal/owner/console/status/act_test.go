package status

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// Every form does one thing, with script and without.
func TestFormsDoWhatTheySay(t *testing.T) {
	for _, c := range []struct {
		path string
		form url.Values
		did  string
	}{
		{"/sources/con_a/run", url.Values{}, "run con_a"},
		{"/sources/con_a/run", url.Values{"ask_anyway": {"true"}}, "run anyway con_a"},
		{"/sources/con_a/credential", url.Values{"field.token": {"willow"}, "token": {"other"}},
			"credential con_a willow"},
		{"/sources/con_a/acknowledge", url.Values{"kind": {"reattach_schedule"}}, "acknowledge con_a reattach_schedule"},
		{"/sources/con_a/rename", url.Values{"name": {" Orchard "}}, "rename con_a Orchard"},
		{"/sources/con_a/schedule", url.Values{"interval_seconds": {"3600"}, "enabled": {"true"}},
			`schedule con_a {"interval_seconds":3600,"jitter_seconds":0,"enabled":true}`},
		{"/sources/con_a/limits", url.Values{"ceiling_per_minute": {"120"}, "max_run_seconds": {""}},
			`limits con_a {"ceiling_per_minute":120,"max_run_seconds":0,"max_detail_fetches":0,"supports":null}`},
		{"/sources/con_a/selection", url.Values{"records": {"photos=p1\r\n\n messages=m=7 \nphotos=p2"}},
			"select con_a [{photos  [p1 p2]} {messages  [m=7]}]"},
		{"/sources/con_a/selection", url.Values{"records": {" "}}, "select con_a []"},
		{"/sources/con_a/selection", url.Values{"records": {"photos=p1"}, "once": {"1"}},
			"collect con_a [{photos  [p1]}]"},
		{"/sources/con_a/selection", url.Values{"profile": {"brief"}, "view:photos": {"small"}, "view:messages": {""},
			"records": {"photos=p1"}}, "select con_a brief [{photos small [p1]}]"},
		{"/sources/con_a/revoke", url.Values{}, "revoke con_a"},
		{"/runs/run_1/cancel", url.Values{}, "cancel run_1"},
		{"/runs/run_1/answer", url.Values{"interaction_id": {"int_1"}, "status": {"success"}, "field.code": {"123456"}},
			"answer run_1 int_1 success 123456"},
		{"/runs/run_1/answer", url.Values{"interaction_id": {"int_1"}, "status": {"cancelled"}, "field.code": {"123456"}},
			"answer run_1 int_1 cancelled "},
	} {
		for _, htmx := range []bool{false, true} {
			k := newKeeper(plant(t, "scheduled-healthy", `{"connection": {"connection_id": "con_a"}}`))
			w := send(t, serve(k), "POST", c.path, c.form, htmx)
			if strings.Join(k.did, "; ") != c.did {
				t.Errorf("%s did %q, want %q", c.path, k.did, c.did)
			}
			switch {
			case htmx && (w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `data-message="ok"`) &&
				!strings.Contains(w.Body.String(), `data-message="note"`)):
				t.Errorf("%s answers htmx with %d %s", c.path, w.Code, w.Body)
			case !htmx && (w.Code != http.StatusSeeOther || !strings.HasPrefix(w.Header().Get("Location"), "/")):
				t.Errorf("%s answers with %d to %q", c.path, w.Code, w.Header().Get("Location"))
			}
			if strings.Contains(w.Body.String(), "willow") || strings.Contains(w.Header().Get("Set-Cookie"), "willow") {
				t.Errorf("%s shows what was typed", c.path)
			}
		}
	}
}

// The page of the action shows what went wrong and the next step. It hides the text of internal
// errors.
func TestRefusalsSayTheNextStep(t *testing.T) {
	k := newKeeper()
	k.refuse = &api.Error{Status: http.StatusConflict, Code: api.CodeRunActive, Message: "A run is already going.",
		Next: "Follow it.", RunID: "run_7"}
	w := send(t, serve(k), "POST", "/sources/con_a/run", url.Values{}, true)
	if body := w.Body.String(); w.Code != http.StatusConflict || !strings.Contains(body, "A run is already going.") ||
		!strings.Contains(body, "Follow it.") || !strings.Contains(body, `href="/runs/run_7"`) {
		t.Errorf("%d %s", w.Code, body)
	}
	until := time.Date(2026, 3, 10, 14, 5, 0, 0, time.UTC)
	k.refuse = &api.Error{Status: http.StatusConflict, Code: api.CodeProviderWait, Message: "Left alone until 14:05.",
		Next: "Ask anyway.", Until: &until, ConnectionID: "con_a"}
	for _, htmx := range []bool{true, false} {
		w = send(t, serve(k), "POST", "/sources/con_a/run", url.Values{}, htmx)
		body := w.Body.String()
		if w.Code != http.StatusConflict || !strings.Contains(body, "Left alone until 14:05.") ||
			!strings.Contains(body, `action="/sources/con_a/run"`) ||
			!strings.Contains(body, `name="ask_anyway" value="true"`) || !strings.Contains(body, "Ask anyway</button>") {
			t.Errorf("%d %s", w.Code, body)
		}
	}
	k.refuse = errors.New("secret of the house")
	for _, htmx := range []bool{true, false} {
		w = send(t, serve(k), "POST", "/sources/con_a/run", url.Values{}, htmx)
		if w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "secret of the house") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	if w = send(t, serve(k), "GET", "/sources/con_none", nil, false); w.Code != http.StatusNotFound ||
		!strings.Contains(w.Body.String(), "Look at all connections.") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for _, form := range []url.Values{{"ceiling_per_minute": {"-1"}}, {"ceiling_per_minute": {"NaN"}},
		{"max_run_seconds": {"1e99"}}, {"max_detail_fetches": {"many"}}} {
		if w = send(t, serve(k), "POST", "/sources/con_a/limits", form, true); w.Code != http.StatusBadRequest {
			t.Errorf("%v gives %d", form, w.Code)
		}
	}
}

// A choice of records is shown as it is entered, and a line that names none changes nothing.
func TestSelectionForm(t *testing.T) {
	k := newKeeper(plant(t, "scheduled-healthy", `{"connection": {"connection_id": "con_a"}}`))
	k.selection = api.Selection{Streams: []api.SelectedStream{{Stream: "photos", Resources: []string{"p1", "p2"}},
		{Stream: "messages", Resources: []string{"m=7"}}}}
	h := serve(k)
	if got := one(t, page(t, h, "/sources/con_a"), "id", "selected"); got != "photos=p1 photos=p2 messages=m=7" {
		t.Errorf("the form holds %q", got)
	}
	w := send(t, h, "POST", "/sources/con_a/selection", url.Values{"records": {"photos=p1\nall of it"}, "once": {"1"}},
		true)
	if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "A line names no record: all of it") ||
		k.did != nil {
		t.Errorf("%d %s, did %v", w.Code, w.Body, k.did)
	}
}

// A rejected credential brings the form of its connector, with nothing filled in.
func TestRejectedCredentialAsksForAnother(t *testing.T) {
	k := newKeeper(plant(t, "scheduled-healthy",
		`{"connection": {"connection_id": "con_a"}, "credential": {"status": "rejected", "rejected_at": `+
			`"2026-03-10T11:30:00Z"}}`))
	k.form = &api.CredentialForm{Kind: "token", Label: "A token", Submit: "Reconnect",
		Fields: []api.CredentialField{{Name: "token", Label: "Access token", Type: "text", Secret: true, Required: true,
			Help: "From the settings."}}}
	shown := page(t, serve(k), "/sources/con_a")
	card := find(shown, "data-action", "reauth")
	if len(card) != 1 {
		t.Fatalf("%d cards", len(card))
	}
	inputs := find(card[0], "name", "field.token")
	if kind, _ := attr(inputs[0], "type"); len(inputs) != 1 || kind != "password" {
		t.Errorf("the secret's input is of type %q", kind)
	}
	if _, filled := attr(inputs[0], "value"); filled {
		t.Error("the secret's input is filled in")
	}
	if len(find(card[0], "action", "/sources/con_a/credential")) != 1 {
		t.Error("the form does not post to the connection")
	}
}

// A run shows how far it is, how long it may take, and what it asks.
func TestRunPage(t *testing.T) {
	k := newKeeper(plant(t, "scheduled-healthy", `{"connection": {"connection_id": "con_a"}}`))
	considered, rate, low, high := int64(1204), 40.0, int64(720), int64(1500)
	k.active = &api.Run{ID: "run_1", ConnectionID: "con_a", DisplayName: "Photobox", Status: "running",
		Trigger: "scheduled", StartedAt: noon.Add(-5 * time.Minute), RecordsEmitted: 388,
		Streams: []api.RunStream{{Name: "messages", Label: "Messages", Records: 388, Considered: &considered,
			PerMinute: &rate, LeftLow: &low, LeftHigh: &high}}}
	k.question = &api.Question{RunID: "run_1", RequestID: "int_1", Message: "A code was sent.",
		Fields: []api.QuestionField{{Name: "code", Label: "6-digit code", Required: true}}}
	for i := range int64(700) {
		k.events = append(k.events, api.Event{Seq: i + 1, At: noon, Text: "Saved a slice."})
	}
	shown := page(t, serve(k), "/runs/run_1")
	progress := one(t, shown, "id", "run-progress")
	if nodes := find(shown, "data-run-message", ""); len(nodes) != 0 {
		t.Error("the run says something about itself as a whole, and has said nothing")
	}
	for _, want := range []string{"388 of 1,204", "40 a minute", "12 to 25 min left"} {
		if !strings.Contains(progress, want) {
			t.Errorf("the progress does not say %q: %s", want, progress)
		}
	}
	if got := find(shown, "data-event", ""); len(got) != mostEvents {
		t.Errorf("%d events", len(got))
	} else if newest, _ := attr(got[0], "data-event"); newest != "700" {
		t.Errorf("the newest event is %s", newest)
	}
	if len(find(shown, "data-question", "int_1")) != 1 || len(find(shown, "action", "/runs/run_1/cancel")) != 1 {
		t.Error("the question or the way to cancel is missing")
	}
}

// The page of a run that is over shows how that run ended, how it matters and what is next, never the state of the
// source. It names the grant that asked for it.
func TestRunPageIsAboutTheRun(t *testing.T) {
	k := newKeeper(plant(t, "scheduled-healthy", `{"connection": {"connection_id": "con_a"}}`))
	over := noon.Add(-time.Hour)
	k.active = &api.Run{ID: "run_1", ConnectionID: "con_a", DisplayName: "Photobox", Status: "failed", Trigger: "manual",
		StartedAt: over, CompletedAt: &over,
		Failure: "The provider could not be reached.", GrantID: "grant_1", GrantName: "Sleep coach"}
	shown := page(t, serve(k), "/runs/run_1")
	head := one(t, shown, "id", "run-head")
	if !strings.HasPrefix(head, "This run failed") || strings.Contains(textOf(shown), "Healthy") {
		t.Errorf("the head is %s", head)
	}
	for name, want := range map[string]string{"data-failed": "The provider could not be reached.",
		"data-matters": "Nothing was read and nothing was lost. Everything from earlier runs is here."} {
		if got := one(t, shown, name, ""); got != want {
			t.Errorf("%s is %q", name, got)
		}
	}
	if all, _ := k.Overview(t.Context()); one(t, shown, "data-next", "") != all.Connections[0].Verdict.Outline.Next {
		t.Errorf("next is %q", one(t, shown, "data-next", ""))
	}
	if about := one(t, shown, "id", "run-about"); !strings.Contains(about, "Sleep coach") ||
		len(find(shown, "data-grant", "grant_1")) != 1 {
		t.Errorf("the grant is not named: %s", about)
	}
}

// A run that later ones followed asks for nothing. Its page leads to the source, and to the runs before it.
func TestOldRunAsksForNothing(t *testing.T) {
	k := rejected(t)
	k.active = &api.Run{ID: "run_5", ConnectionID: "con_a", DisplayName: "Photobox", Status: "failed",
		StartedAt: noon.Add(-time.Hour), RecordsEmitted: 3, Failure: "The provider could not be reached."}
	before := api.Run{ID: "run_4", Status: succeeded, StartedAt: noon.Add(-2 * time.Hour)}
	k.runs = []api.Run{{ID: "run_6", Status: "failed", StartedAt: noon}, *k.active, before}
	shown := page(t, serve(k), "/runs/run_5")
	head := find(shown, "id", "run-head")[0]
	if len(find(head, "data-action", "")) > 0 || len(find(head, "data-next", "")) > 0 ||
		len(find(head, "href", "/sources/con_a")) != 1 {
		t.Errorf("an old run says what is next: %s", textOf(head))
	}
	if !strings.Contains(textOf(head), "3 things were saved before it stopped") {
		t.Errorf("the head is %s", textOf(head))
	}
	if n := len(find(shown, "href", "/runs/run_4")); n != 2 {
		t.Errorf("%d links to the run before it and the last good one", n)
	}
	k.runs = k.runs[1:]
	if n := len(find(find(page(t, serve(k), "/runs/run_5"), "id", "run-head")[0], "data-action", "")); n != 1 {
		t.Errorf("the newest run offers %d actions", n)
	}
}

// A message about a credential claims no success, and goes when a run has ended.
func TestCredentialMessageClaimsNothing(t *testing.T) {
	k := newKeeper(plant(t, "scheduled-healthy", `{"connection": {"connection_id": "con_a"}}`))
	message := send(t, serve(k), http.MethodPost, "/sources/con_a/credential", url.Values{"field.token": {"x"}},
		true).Body.String()
	if !strings.Contains(message, `data-message="note"`) || strings.Contains(message, "green") {
		t.Errorf("the message is %s", message)
	}
	part := func() string {
		s, err := New(Config{Owner: k, Now: func() time.Time { return noon }}).shown(t.Context(), "con_a")
		if err != nil {
			t.Fatal(err)
		}
		all, err := s.parts(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range all {
			if p.id == "flash" {
				return string(p.html)
			}
		}
		return ""
	}
	before := part()
	k.facts.all[0].LastRun.ID = "run_99"
	if after := part(); before == "" || after == before || strings.Contains(after, "data-message") {
		t.Errorf("a run has ended, and the message stays: %s, %s", before, after)
	}
}

// A connection that has ended is shown as that, and not by the verdict on its last run.
func TestEndedConnection(t *testing.T) {
	k := newKeeper(plant(t, "scheduled-healthy", `{"connection": {"connection_id": "con_a", "status": "revoked"}}`))
	shown := page(t, serve(k), "/sources/con_a")
	if len(find(shown, "data-ended", "")) != 1 || len(find(shown, "data-sentence", "")) != 0 {
		t.Error("the page shows the verdict of a connection that has ended")
	}
}
