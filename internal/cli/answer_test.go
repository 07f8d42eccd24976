package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/interaction"
	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// A question of a run in somebody's terminal has no key, and is answered there.
func TestAnswerRemote(t *testing.T) {
	s := newDueShop(t)
	l, err := s.StartRun(t.Context(), store.RunStart{RunID: "run_1", ConnectionID: nursery, ConnectorID: "nursery", Trigger: store.TriggerManual,
		Holder: "test", TTL: time.Minute, Streams: []store.StreamSpec{{Name: "trees"}}}, s.clock)
	s.must(err)
	expires := s.clock.Add(time.Minute)
	s.must(s.OpenInteraction(t.Context(), l, store.Interaction{RequestID: "q1", RunID: "run_1", ConnectionID: nursery, Kind: protocol.AskOTP,
		Message: "Which number?", OpenedAt: s.clock, ExpiresAt: &expires}, s.clock))
	for _, name := range []string{nursery, "run_1"} {
		if code, out := s.command("answer", name, "--cancel"); code != ExitFailed || !strings.Contains(out, "next: Answer it in the terminal that shows it.\n") {
			t.Errorf("%s: code %d, %s", name, code, out)
		}
	}
	if _, out := s.command("attention"); !strings.Contains(out, nursery+" asks: Which number?\n  Answer it in the terminal that runs it.\n") {
		t.Error(out)
	}
	s.clock = expires
	if code, out := s.command("answer", nursery, "--cancel"); code != ExitNotFound || !strings.Contains(out, "has no open question") {
		t.Errorf("expired: code %d, %s", code, out)
	}
	if _, out := s.command("attention"); out != "Nothing is asked of you.\n" {
		t.Errorf("expired: %s", out)
	}
}

func TestAnswerVariable(t *testing.T) {
	for field, want := range map[string]string{"code": "PDPP_ANSWER_CODE", "one-time code": "PDPP_ANSWER_ONE_TIME_CODE", "größe2": "PDPP_ANSWER_GR__E2"} {
		if got := answerVariable(field); got != want {
			t.Errorf("%s: %s, want %s", field, got, want)
		}
	}
}

// Only an offer to switch a schedule on can be accepted.
func TestAcceptNeedsAnOffer(t *testing.T) {
	s := newDueShop(t)
	r := attention.Record{ID: "att_1", ConnectionID: nursery, Kind: "reauth", Contract: "credential_captured", Words: "Reconnect the source", Affects: []string{},
		Lifecycle: evidence.AttentionOpen, OpenedAt: s.clock, UpdatedAt: s.clock, Notice: attention.NoticePending}
	s.must(s.SaveAttention(t.Context(), []attention.Record{r}, nil))
	code, out := s.command("attention", "accept", "att_")
	if code != ExitUsage || !strings.Contains(out, "pdpp: att_1 asks for more than a yes: Reconnect the source\nnext: Do it: pdpp credential set "+nursery+"\n") {
		t.Errorf("code %d, %s", code, out)
	}
	r.ID, r.Kind, r.Contract = "att_2", "reattach_schedule", "schedule_attached"
	s.must(s.SaveAttention(t.Context(), []attention.Record{r}, nil))
	if code, out := s.command("attention", "accept", "att_"); code != ExitUsage || !strings.Contains(out, `"att_" means several`) {
		t.Errorf("code %d, %s", code, out)
	}
	for range 2 { // the second time changes nothing
		code, out := s.command("attention", "accept", "att_2")
		if code != ExitOK || !strings.Contains(out, "No worker is alive. Start one (pdpp serve), or do it yourself: pdpp schedule resume "+nursery) {
			t.Errorf("code %d, %s", code, out)
		}
	}
	if _, out := s.command("attention", "--json"); !strings.Contains(out, `"lifecycle":"acknowledged"`) {
		t.Error(out)
	}
}

func TestDescribeFaults(t *testing.T) {
	invalid := *interaction.ErrInvalidAnswer
	invalid.Param, invalid.Message = "code", invalid.Message+": code, name"
	for _, tt := range []struct {
		err     error
		exit    int
		message string
	}{
		{&invalid, ExitUsage, "the answer does not fit the question's form: code, name"},
		{interaction.ErrNotPending, ExitNotFound, interaction.ErrNotPending.Message},
		{interaction.ErrAlreadyAnswered, ExitFailed, interaction.ErrAlreadyAnswered.Message},
	} {
		e := describe(tt.err)
		if e.Exit != tt.exit || e.Message != tt.message || e.Next == "" {
			t.Errorf("%v: %+v", tt.err, e)
		}
	}
}
