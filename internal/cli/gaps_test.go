package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// What no run can fetch is listed too: "nothing is known to be missing" would be untrue.
func TestGapsListLosses(t *testing.T) {
	s := newStatusShop(t)
	s.add("cin_lost", "Lost", store.SourceAccount)
	s.must(s.CreateGrant(t.Context(), store.Grant{ID: "grant_1", ClientID: "coach", ClientName: "Sleep coach",
		Purpose: "sleep", Mode: store.GrantContinuous, Scope: jsontext.Value(`{}`), CreatedAt: s.ago(2 * time.Hour)},
		[]byte("hash")))
	l, err := s.StartRun(t.Context(), store.RunStart{RunID: "run_lost", ConnectionID: "cin_lost", ConnectorID: "nursery",
		Trigger: store.TriggerManual, Holder: "test",
		TTL: time.Minute, Streams: []store.StreamSpec{{Name: "trees"}}, GrantID: "grant_1"}, s.ago(time.Hour))
	s.must(err)
	s.must(s.FinishRun(t.Context(), l, store.RunOutcome{Status: store.RunSucceeded, Event: slice.Event{Type: "run.over"},
		Facts: jsontext.Value(`{"streams":[{"stream":"trees","collected":0,"checkpoint":"committed",` +
			`"skipped":{"reason":"replies_removed"}}]}`)}, s.ago(time.Hour)))
	for _, args := range [][]string{{"gaps"}, {"gaps", "--connection", "cin_lost"}} {
		if got := s.tell(args...); !strings.Contains(got, "No run can fetch this:") || !strings.Contains(got, "cin_lost") ||
			!strings.Contains(got, "trees") || strings.Contains(got, "nothing is known") {
			t.Errorf("%v: %s", args, got)
		}
	}
	if got := s.tell("gaps", "--json"); !strings.Contains(got, `"lost"`) {
		t.Error(got)
	}
	if got := s.tell("gaps", "--connection", "cin_well"); !strings.Contains(got, "nothing is known to be missing") {
		t.Error(got)
	}
	if got := s.tell("run", "show", "run_lost"); !strings.Contains(got, "grant       grant_1 (Sleep coach)") {
		t.Error(got)
	}
}
