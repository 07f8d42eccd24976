package interaction

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// An answer from another process reaches the run that asked, and cannot be read in between.
func TestAnswerCrossesProcesses(t *testing.T) {
	b := newBed(t)
	q := b.put(t, "q1", "")
	if err := LeaveAnswer(t.Context(), b.answering, "run_1", "q1", success(`{"code":"correct-horse-battery"}`),
		noon); err != nil {
		t.Fatal(err)
	}
	b.mustNotHold(t, "correct-horse")
	b.mustNotHold(t, `"code"`)
	b.deliver(t)
	b.mailbox.Deliver("run_1", "another")
	b.mailbox.Deliver("run_9", "q1")
	r, err := b.mailbox.Ask(t.Context(), "run_1", q)
	if err != nil || r.RequestID != "q1" || r.Status != protocol.ResponseSuccess ||
		string(r.Data) != `{"code":"correct-horse-battery"}` {
		t.Errorf("the run got %+v, %v", r, err)
	}
	if err := b.asking.CloseInteraction(t.Context(), b.lease, "q1", r.Status, noon); err != nil {
		t.Fatal(err)
	}
	if _, err := b.answering.SealedAnswer(t.Context(), "run_1", "q1"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the sealed answer is kept: %v", err)
	}
}

// A waiting run is woken, however many early notifications it got before.
func TestRunThatWaits(t *testing.T) {
	b := newBed(t)
	q := b.put(t, "q1", "")
	got := make(chan protocol.InteractionResponse, 1)
	go func() {
		r, err := b.mailbox.Ask(t.Context(), "run_1", q)
		if err != nil {
			t.Error(err)
		}
		got <- r
	}()
	b.mailbox.Deliver("run_1", "q1") // too early
	b.mailbox.Deliver("run_1", "q1")
	cancelled := protocol.InteractionResponse{Status: protocol.ResponseCancelled, Data: []byte(`{"code":"1"}`)}
	if err := LeaveAnswer(t.Context(), b.answering, "run_1", "q1", cancelled, noon); err != nil {
		t.Fatal(err)
	}
	b.deliver(t)
	if r := <-got; r.Status != protocol.ResponseCancelled || r.Data != nil {
		t.Errorf("the run got %+v", r)
	}
}

// An answer belongs to one question. Another question, or one with a lost key, cannot open it, and the error reveals
// nothing.
func TestAnswerOpensForItsQuestionAlone(t *testing.T) {
	b := newBed(t)
	first := b.put(t, "q1", "")
	if err := LeaveAnswer(t.Context(), b.answering, "run_1", "q1", success(`{"code":"314159"}`), noon); err != nil {
		t.Fatal(err)
	}
	sealed, err := b.answering.SealedAnswer(t.Context(), "run_1", "q1")
	if err != nil {
		t.Fatal(err)
	}
	private, err := suite.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	own := b.mailbox.at(questionID{"run_1", "q1"})
	for name, try := range map[string]func() error{
		"another key":      func() error { _, err := open(private, questionID{"run_1", "q1"}, sealed); return err },
		"another question": func() error { _, err := open(own.key, questionID{"run_1", "q2"}, sealed); return err },
		"another run":      func() error { _, err := open(own.key, questionID{"run_", "1q1"}, sealed); return err },
		"cut short": func() error {
			_,
				err := open(own.key, questionID{"run_1", "q1"}, sealed[:len(sealed)-1])
			return err
		},
		"changed": func() error {
			changed := append([]byte{}, sealed...)
			changed[len(changed)/2] ^= 1
			_, err := open(own.key, questionID{"run_1", "q1"}, changed)
			return err
		},
	} {
		if err := try(); !errors.Is(err, errUnreadable) {
			t.Errorf("%s: %v", name, err)
		}
	}

	second := b.put(t, "q2", "") // the sealed answer is moved to it
	if err := b.answering.AnswerInteraction(t.Context(), "run_1", "q2", sealed, noon); err != nil {
		t.Fatal(err)
	}
	b.deliver(t)
	if r, err := b.mailbox.Ask(t.Context(), "run_1", second); !errors.Is(err, errUnreadable) || r.Data != nil {
		t.Errorf("the replayed answer gave %+v, %v", r, err)
	}
	if _, err := b.mailbox.Ask(t.Context(), "run_1", first); err != nil {
		t.Error(err)
	}
	if _, err := b.mailbox.Ask(t.Context(), "run_1", protocol.Interaction{RequestID: "never prepared"}); !errors.Is(err,
		errNotPrepared) {
		t.Errorf("a question without a key: %v", err)
	}
}

// The end of the wait and an answer at the same moment: the store has one of
// them first, and both sides know which.
func TestAnswerRacesExpiry(t *testing.T) {
	b := newBed(t)
	answered := 0
	const rounds = 40
	for i := range rounds {
		id := "q" + string(rune('A'+i))
		q := b.put(t, id, "")
		ctx, cancel := context.WithCancel(t.Context())
		var accepted error
		var side sync.WaitGroup
		side.Go(func() { accepted = LeaveAnswer(t.Context(), b.answering, "run_1", id, success(`{"code":"1"}`), noon) })
		side.Go(cancel)
		r, err := b.mailbox.Ask(ctx, "run_1", q)
		side.Wait()
		if (accepted == nil) != (err == nil) || (err == nil) != (r.Status == protocol.ResponseSuccess) {
			t.Fatalf("the owner was told %v, and the run %+v, %v", accepted, r, err)
		}
		if accepted != nil && !errors.Is(accepted, ErrAlreadyAnswered) || err != nil && !errors.Is(err, context.Canceled) {
			t.Fatalf("the owner was told %v, the run %v", accepted, err)
		}
		if err == nil {
			answered++
		}
	}
	t.Logf("the answer won %d of %d times", answered, rounds)
}

// A question is withdrawn with its run. A question of a dead process accepts no answer.
func TestQuestionsThatAreOver(t *testing.T) {
	b := newBed(t)
	q := b.put(t, "q1", "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.mailbox.Ask(ctx, "run_1", q); !errors.Is(err, context.Canceled) {
		t.Errorf("withdrawn: %v", err)
	}
	if err := b.asking.CloseInteraction(t.Context(), b.lease, "q1", protocol.ResponseTimeout, noon); err != nil {
		t.Fatal(err)
	}
	if err := LeaveAnswer(t.Context(), b.answering, "run_1", "q1", success(`{}`), noon); !errors.Is(err, ErrNotPending) {
		t.Errorf("closed: %v", err)
	}
	b.put(t, "q2", "")
	for name, at := range map[string]time.Time{"expired": noon.Add(time.Hour), "the lease ran out": noon.Add(leaseTTL)} {
		if err := LeaveAnswer(t.Context(), b.answering, "run_1", "q2", success(`{}`), at); !errors.Is(err, ErrNotPending) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := b.answering.AnswerInteraction(t.Context(), "run_1", "q2", []byte("late"),
		noon.Add(leaseTTL)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a dead run takes an answer: %v", err)
	}
	if len(b.mailbox.waiting) != 2 {
		t.Errorf("%d questions are remembered before they are forgotten", len(b.mailbox.waiting))
	}
}
