package launch

import (
	"strings"
	"testing"
	"time"

	"pdpp/internal/interaction"
	"pdpp/internal/runner"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlite"
	"pdpp/internal/store/sqlite/sqlitetest"
	"pdpp/protocol"
)

// The question is stored with the key for its answer. The answer comes from
// another handle on the database, and is nowhere to be read: not in a row, not in
// the timeline.
func TestInteractionIsStoredWithoutItsAnswer(t *testing.T) {
	b := newBed(t)
	owner, err := sqlite.Open(t.Context(), sqlitetest.Fresh(t, b.path), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = owner.Close() }()
	mailbox := &interaction.Mailbox{Store: b.store, Now: time.Now}
	req := Request{Ask: mailbox.Ask, Prepare: mailbox.Prepare}
	open := make(chan store.Interaction, 1)
	req.Options.Observe = func(u runner.Update) {
		if u.Asking == nil {
			return
		}
		go func() {
			q := waitForQuestion(t, owner)
			answer := protocol.InteractionResponse{Status: protocol.ResponseSuccess, Data: []byte(`{"password":"correct-horse-battery"}`)}
			if err := interaction.Answer(t.Context(), owner, q.RunID, q.RequestID, answer, time.Now()); err != nil {
				t.Error(err)
			}
			open <- q
			mailbox.Deliver(q.RunID, q.RequestID)
		}()
	}
	r := b.run(t, "asks", req)
	mustSucceed(t, r)
	q := <-open
	if q.RequestID != "q1" || q.RunID != r.RunID || q.Kind != protocol.AskCredentials || q.Message != "sign in" || q.ExpiresAt == nil || len(q.Key) == 0 {
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

// waitForQuestion reads until the run has opened its question.
func waitForQuestion(t *testing.T, s store.Store) store.Interaction {
	for {
		open, err := s.OpenInteractions(t.Context(), connection)
		if err != nil {
			t.Error(err)
			return store.Interaction{}
		}
		if len(open) > 0 {
			return open[0]
		}
	}
}
