package launch

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/interaction"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
	"github.com/pdpp-go/pdpp/protocol"
)

// The question is stored with the key for its answer. The answer comes from
// another handle on the database, and is nowhere to be read: not in a row, not in
// the timeline.
func TestInteractionIsStoredWithoutItsAnswer(t *testing.T) {
	b := newBed(t)
	owner, err := sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, b.path), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = owner.Close() }()
	mailbox := &interaction.Mailbox{Store: b.store, Now: time.Now}
	req := RunRequest{Ask: mailbox.Ask, Prepare: mailbox.Prepare}
	open := make(chan store.Interaction, 1)
	req.Options.Observe = func(u runner.Update) {
		if u.Asking == nil {
			return
		}
		go func() {
			q := waitForQuestion(t, owner)
			answer := protocol.InteractionResponse{Status: protocol.ResponseSuccess,
				Data: []byte(`{"password":"correct-horse-battery"}`)}
			if err := interaction.LeaveAnswer(t.Context(), owner, q.RunID, q.RequestID, answer, time.Now()); err != nil {
				t.Error(err)
			}
			open <- q
			mailbox.Deliver(q.RunID, q.RequestID)
		}()
	}
	r := b.run(t, "asks", req)
	mustSucceed(t, r)
	q := <-open
	if q.RequestID != "q1" || q.RunID != r.RunID || q.Kind != protocol.AskCredentials || q.Message != "sign in" ||
		q.ExpiresAt == nil || len(q.Key) == 0 {
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

// closing is a store that remembers as what a question was closed.
type closing struct {
	store.Store
	as protocol.ResponseStatus
}

func (s *closing) CloseInteraction(ctx context.Context, l store.Lease, requestID string, as protocol.ResponseStatus,
	now time.Time) error {
	s.as = as
	return s.Store.CloseInteraction(ctx, l, requestID, as, now)
}

// A question is on record as what became of it, and the connector hears the same: time
// that ran out is not an owner who declined, and neither is a desk that failed.
func TestQuestionIsClosedAsItEnded(t *testing.T) {
	answers := func(r protocol.InteractionResponse, err error) func(*interaction.Mailbox) RunRequest {
		return func(*interaction.Mailbox) RunRequest {
			return RunRequest{Ask: func(context.Context, string, protocol.Interaction) (protocol.InteractionResponse, error) {
				return r, err
			}}
		}
	}
	for name, c := range map[string]struct {
		role    string
		request func(*interaction.Mailbox) RunRequest
		want    protocol.ResponseStatus
		heard   bool
	}{
		"nobody answers in time": {"asks briefly",
			func(m *interaction.Mailbox) RunRequest { return RunRequest{Ask: m.Ask, Prepare: m.Prepare} },
			protocol.ResponseTimeout,
			true},
		"declined": {"asks", answers(protocol.InteractionResponse{Status: protocol.ResponseCancelled}, nil),
			protocol.ResponseCancelled, true},
		"answered": {"asks", answers(protocol.InteractionResponse{Data: []byte(`{}`)}, nil),
			protocol.ResponseSuccess, true},
		"the desk fails": {"asks", answers(protocol.InteractionResponse{}, errors.New("the desk is closed")),
			protocol.ResponseCancelled, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			seen := &closing{Store: b.store}
			l := b.launcher(t, c.role)
			l.Store = seen
			req := c.request(&interaction.Mailbox{Store: b.store, Now: time.Now})
			req.ConnectionID, req.Trigger = connection, store.TriggerManual
			r, err := l.Run(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			if seen.as != c.want {
				t.Errorf("closed as %q, want %q", seen.as, c.want)
			}
			if open, err := b.store.OpenInteractions(t.Context(), ""); err != nil || len(open) > 0 {
				t.Errorf("still open: %v, %v", open, err)
			}
			if !c.heard {
				if r.Status != runner.Failed || r.Failure.Reason != runner.ReasonRuntimeError {
					t.Errorf("the run ended as %s: %v", r.Status, r.Failure)
				}
				return
			}
			mustSucceed(t, r)
			rec, err := b.store.Record(t.Context(), connection, "notes", "1")
			if err != nil || !strings.Contains(string(rec.Data), `"`+string(c.want)+`"`) {
				t.Errorf("the connector heard %s, %v", rec.Data, err)
			}
		})
	}
}
