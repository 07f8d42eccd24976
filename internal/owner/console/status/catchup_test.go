package status

import (
	"strings"
	"testing"
)

// pressed has 37 items left that the source's pressure deferred, and 4 for other reasons.
const pressed = `{"gaps": {"recovered": 5, "outstanding": [
	{"stream": "albums", "reason": "rate_limited", "count": 37, "max_attempt_count": 2,` +
	` "next_attempt_at": "2026-03-10T13:00:00Z"},
	{"stream": "albums", "reason": "wasps", "count": 4, "max_attempt_count": 1}]}}`

// A throttled connection shows how much is left, using only the counts of the backlog. It does not
// show the reason's token.
func TestCatchUpCue(t *testing.T) {
	for _, id := range []string{"CH-20", "CH-20.1", "CH-20.4"} {
		t.Attr("spec", id)
	}
	e := plant(t, "scheduled-healthy", pressed)
	k := newKeeper(e)
	c, err := k.view.One(t.Context(), e.Connection.ID)
	if err != nil || c.CatchUp == nil {
		t.Fatalf("the planted connection does not catch up: %v", err)
	}
	shown := page(t, serve(k), "/sources/"+e.Connection.ID)
	cue := find(shown, "data-cue", "catch-up")
	if len(cue) != 1 {
		t.Fatalf("%d cues", len(cue))
	}
	words := textOf(cue[0])
	want := "Catching up: 37 details left , 5 recovered so far The source asked for a slower pace. 4 other details are " +
		"still open. Pace is not the reason."
	if words != want {
		t.Errorf("the cue says %q", words)
	}
	for _, bad := range []string{"source_pressure", "rate_limited", "caught up", c.DisplayName, c.ConnectorID} {
		if strings.Contains(words, bad) {
			t.Errorf("the cue says %q: %s", bad, words)
		}
	}
	if len(find(cue[0], "href", ""))+len(find(cue[0], "action", "")) != 0 {
		t.Error("the cue has a button")
	}
	row := find(page(t, serve(k), "/sources"), "data-connection", e.Connection.ID)[0]
	if strings.Contains(textOf(row), "37") {
		t.Errorf("the dashboard counts what is missing: %s", textOf(row))
	}
}

func TestNoCueWhereNothingIsToCatchUp(t *testing.T) {
	t.Attr("spec", "CH-20.2")
	t.Attr("spec", "CH-27.1")
	for name, patch := range map[string]string{
		"drained":    `{"gaps": {"outstanding": [], "recovered": 8642}}`,
		"unmeasured": `{"gaps": null}`,
		"well":       `{}`,
	} {
		e := plant(t, "scheduled-healthy", patch)
		h := serve(newKeeper(e))
		shown, board := page(t, h, "/sources/"+e.Connection.ID), page(t, h, "/sources")
		if n := len(find(shown, "data-cue", "")) + len(find(board, "data-cue", "")); n != 0 {
			t.Errorf("%s: %d cues", name, n)
		}
		if strings.Contains(textOf(find(board, "id", "groups")[0]), "8,642") {
			t.Errorf("%s: the dashboard counts what is done", name)
		}
		if name == "drained" && !strings.Contains(one(t, shown, "id", "inspect-backlog"), "8,642") {
			t.Errorf("%s: the inspection lost the count", name)
		}
	}
}

// With only other reasons left, the backlog does not read as caught up.
func TestOtherPendingIsNotCaughtUp(t *testing.T) {
	t.Attr("spec", "CH-20.3")
	e := plant(t, "scheduled-healthy",
		`{"gaps": {"recovered": 5, "outstanding": [{"stream": "albums", "reason": "wasps", "count": 9, `+
			`"max_attempt_count": 1}]}}`)
	shown := page(t, serve(newKeeper(e)), "/sources/"+e.Connection.ID)
	if got := one(t, shown, "data-backlog-other", ""); got != "9 other details are still open. Pace is not the reason." {
		t.Errorf("the backlog says %q", got)
	}
	if strings.Contains(strings.ToLower(textOf(shown)), "caught up") {
		t.Error("the page says caught up")
	}
	if len(find(shown, "data-cue", "catch-up")) != 0 {
		t.Error("other gaps are shown as the source's pressure")
	}
}
