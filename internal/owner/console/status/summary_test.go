package status

import (
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/view"
)

// The summary includes all degraded connections, even if the owner does not have to act.
func TestSummaryShowsDegradedWork(t *testing.T) {
	for _, id := range []string{"CH-09", "CH-09.1", "CH-09.2"} {
		t.Attr("spec", id)
	}
	catching := plant(t, "scheduled-healthy", pressed)
	stalled := plant(t, "device-drained", devices(aDevice("src_maple", "Maple", blocked)))
	well := plant(t, "scheduled-healthy", `{"connection": {"connection_id": "con_well"}}`)
	k := newKeeper(catching, stalled, well)
	board := page(t, serve(k), "/sources")
	all, _ := k.Overview(t.Context())
	if all.Summary.Visible != 2 || all.Summary.Stalled != 1 {
		t.Fatalf("planted %+v", all.Summary)
	}
	got := one(t, board, "data-count", "visible")
	if got != "2 of all 3 registered sources need a look; 1 with uploads stalled on a device" {
		t.Errorf("the summary says %q", got)
	}
	if title := one(t, board, "id", "board-head"); strings.Contains(title, "Everything runs") ||
		strings.Contains(strings.ToLower(title), "scheduler") {
		t.Errorf("the title says %q", title)
	}
	board = page(t, serve(newKeeper(catching)), "/sources")
	if title := one(t, board, "id", "board-head"); strings.Contains(title, "Everything runs") {
		t.Errorf("a connection that catches up is hidden: %q", title)
	}
	board = page(t, serve(newKeeper(well)), "/sources")
	if one(t, board, "data-count", "visible") != "" ||
		!strings.Contains(one(t, board, "id", "board-head"), "Everything runs on its own") {
		t.Error("a house in order is not said to be")
	}
}

// Every number names what it counts.
func TestCountsNameTheirPopulation(t *testing.T) {
	t.Attr("spec", "CH-10")
	t.Attr("spec", "CH-10.1")
	k := newKeeper(
		plant(t, "scheduled-healthy", `{"connection": {"connection_id": "con_a"}}`),
		plant(t, "never-run", `{"connection": {"connection_id": "con_b"}, "records": {"retained": 0}}`),
		plant(t, "scheduled-healthy", `{"connection": {"connection_id": "con_c"}, "records": null}`),
	)
	board := page(t, serve(k), "/sources")
	if got := one(t, board, "data-count", "registered"); got != "3" {
		t.Errorf("%s registered", got)
	}
	if got := one(t, board, "data-count", "populations"); got != "1 with things, 1 with none yet, 1 not measured" {
		t.Errorf("populations: %q", got)
	}
	words := one(t, board, "id", "strip")
	for _, want := range []string{"3 registered sources", "of all 3 registered", "from the 1 with things"} {
		if !strings.Contains(words, want) {
			t.Errorf("the strip does not say %q: %s", want, words)
		}
	}
	if n := len(find(board, "data-connection", "")); n != 3 {
		t.Errorf("%d rows", n)
	}
}

func TestHeadlineNeverHidesWork(t *testing.T) {
	for _, s := range []view.Summary{
		{Registered: 3, Attention: 1, Calm: 2, Visible: 1},
		{Registered: 3, Advisory: 1, Calm: 2, Visible: 1},
		{Registered: 3, Calm: 3, Visible: 1},
		{Registered: 3, Calm: 3, Unknown: 1},
	} {
		if title, _ := headline(&s); strings.Contains(title, "Everything") || title == "" {
			t.Errorf("%+v gives %q", s, title)
		}
	}
}
