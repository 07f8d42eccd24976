package launch

import (
	"strings"
	"testing"

	"pdpp/internal/interaction"
	"pdpp/internal/runner"
	"pdpp/internal/store"
	"pdpp/protocol"
)

// The question is stored, the answer is not: not in a row, not in the timeline.
func TestInteractionIsStoredWithoutItsAnswer(t *testing.T) {
	b := newBed(t)
	var desk interaction.Desk
	req := Request{Ask: desk.Ask}
	open := make(chan []store.Interaction, 1)
	req.Options.Observe = func(u runner.Update) {
		if u.Asking == nil {
			return
		}
		go func() {
			for len(desk.Open("")) == 0 { // until the run has put its question on the desk
			}
			q := desk.Open("")[0]
			stored, err := b.store.OpenInteractions(t.Context(), connection)
			if err != nil {
				t.Error(err)
			}
			open <- stored
			answer := protocol.InteractionResponse{RequestID: q.RequestID, Status: protocol.ResponseSuccess, Data: []byte(`{"password":"correct-horse-battery"}`)}
			if err := desk.Answer(q.RunID, answer); err != nil {
				t.Error(err)
			}
		}()
	}
	r := b.run(t, "asks", req)
	mustSucceed(t, r)
	q := (<-open)[0]
	if q.RequestID != "q1" || q.RunID != r.RunID || q.Kind != protocol.AskCredentials || q.Message != "sign in" || q.ExpiresAt == nil {
		t.Errorf("open question = %+v", q)
	}
	if left := q.ExpiresAt.Sub(q.OpenedAt).Hours(); left < 0.9 || left > 1 {
		t.Errorf("the question is open for %v hours, want one", left)
	}
	if still, err := b.store.OpenInteractions(t.Context(), ""); err != nil || len(still) > 0 {
		t.Errorf("still open: %v, %v", still, err)
	}
	b.mustNotHold(t, "correct-horse-battery")
	if strings.Contains(r.StderrTail, "horse") {
		t.Errorf("stderr tail = %q", r.StderrTail)
	}
}
