package status

import (
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

func TestConditionsAreSummedUpInWords(t *testing.T) {
	for want, rows := range map[string][]conditionRow{
		"all 2 passed":  make([]conditionRow, 2),
		"1 of 3 failed": {{}, {Fails: true}, {}},
		"2 of 3 failed": {{Fails: true}, {}, {Fails: true}},
	} {
		if got := failing(rows); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestDriftIsShownUnderDetails(t *testing.T) {
	drifting := plant(t, "scheduled-healthy", "")
	fact := *drifting.Streams[0].Fact
	fact.Drift = &evidence.Drift{Answers: 3,
		Differences: []evidence.Difference{{Kind: evidence.NewMember, Route: "GET v1/notes", Member: "notes/[]/colour",
			Count: 2}}}
	drifting.Streams[0].Fact = &fact
	got := one(t, page(t, serve(newKeeper(drifting)), connectionPath(drifting.Connection.ID)), "id", "inspect-drift")
	for _, want := range []string{"Answers differ from what this version expects",
		"New member: notes/[]/colour in 2 places", "pdpp support " + drifting.Connection.ID} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
	well := plant(t, "scheduled-healthy", "")
	if got := one(t, page(t, serve(newKeeper(well)), connectionPath(well.Connection.ID)), "id",
		"inspect-drift"); got != "" {
		t.Errorf("nothing differs, and the page shows %q", got)
	}
}
