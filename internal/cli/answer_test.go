package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// A question of a run in another terminal has no key, and is answered there.
func TestAnswerRemote(t *testing.T) {
	s := newDueShop(t)
	l, err := s.StartRun(t.Context(), store.RunStart{RunID: "run_1", ConnectionID: nursery, ConnectorID: "nursery",
		Trigger: store.TriggerManual,
		Holder:  "test", TTL: time.Minute, Streams: []store.StreamSpec{{Name: "trees"}}}, s.clock)
	s.must(err)
	expires := s.clock.Add(time.Minute)
	s.must(s.OpenInteraction(t.Context(), l, store.Interaction{RequestID: "q1", RunID: "run_1", ConnectionID: nursery,
		Kind:    protocol.AskOTP,
		Message: "Which number?", OpenedAt: s.clock, ExpiresAt: &expires}, s.clock))
	for _, name := range []string{nursery, "run_1"} {
		if code, out := s.command("answer", name, "--cancel"); code != failure.ExitFailed ||
			!strings.Contains(out, "next: Answer it in the terminal that shows it.\n") {
			t.Errorf("%s: code %d, %s", name, code, out)
		}
	}
	if _, out := s.command("attention"); !strings.Contains(out, nursery+
		" asks: Which number?\n  Answer it in the terminal that runs it.\n") {
		t.Error(out)
	}
	s.clock = expires
	if code, out := s.command("answer", nursery, "--cancel"); code != failure.ExitNotFound ||
		!strings.Contains(out, "has no open question") {
		t.Errorf("expired: code %d, %s", code, out)
	}
	if _, out := s.command("attention"); out != "Nothing is asked of you.\n" {
		t.Errorf("expired: %s", out)
	}
}

// Only an offer to switch a schedule on can be accepted.
func TestAcceptNeedsAnOffer(t *testing.T) {
	s := newDueShop(t)
	r := attention.AttentionRecord{ID: "att_1", ConnectionID: nursery, Kind: "reauth", Contract: "credential_captured",
		Words: "Reconnect the source", Affects: []string{},
		Lifecycle: evidence.AttentionOpen, OpenedAt: s.clock, UpdatedAt: s.clock, Notice: attention.NoticePending}
	s.must(s.SaveAttention(t.Context(), []attention.AttentionRecord{r}, nil))
	code, out := s.command("attention", "accept", "att_")
	if code != failure.ExitUsage ||
		!strings.Contains(out, "pdpp: att_1 asks for more than a yes: Reconnect the source\n"+
			"next: Do it: pdpp credential set "+nursery+"\n") {
		t.Errorf("code %d, %s", code, out)
	}
	r.ID, r.Kind, r.Contract = "att_2", "reattach_schedule", "schedule_attached"
	s.must(s.SaveAttention(t.Context(), []attention.AttentionRecord{r}, nil))
	if code, out := s.command("attention", "accept", "att_"); code != failure.ExitUsage ||
		!strings.Contains(out, `"att_" means several`) {
		t.Errorf("code %d, %s", code, out)
	}
	for range 2 { // the second time changes nothing
		code, out := s.command("attention", "accept", "att_2")
		if code != failure.ExitOK || !strings.Contains(out,
			"No worker is alive. Start one (pdpp serve), or do it yourself: pdpp schedule resume "+nursery) {
			t.Errorf("code %d, %s", code, out)
		}
	}
	if _, out := s.command("attention", "--json"); !strings.Contains(out, `"lifecycle":"acknowledged"`) {
		t.Error(out)
	}
}
