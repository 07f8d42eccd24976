package repair

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

// What could not be read changes nothing; what the owner ended is cancelled.
func TestUnreadableAndRevoked(t *testing.T) {
	w, r := refused(t)
	w.wait(time.Minute)
	w.storeCredential()
	for _, f := range evidence.Families {
		w.Unreadable = []evidence.Family{f}
		w.expect(t, NoSatisfiedAction, 0)
	}
	w.Unreadable = nil
	gaps := w.Gaps
	w.Gaps = nil
	w.expect(t, NoSatisfiedAction, 0)
	if got := w.records.records[r.ID]; got.Revision != 1 {
		t.Errorf("the record was changed: %+v", got)
	}
	w.Gaps = gaps
	w.Connection.Status = evidence.StatusRevoked
	w.expect(t, NoSatisfiedAction, 0)
	if got := w.records.records[r.ID]; got.Lifecycle != evidence.AttentionCancelled || got.ClosedAt == nil ||
		got.Notice == attention.NoticePending {
		t.Errorf("after the connection was revoked: %+v", got)
	}
}

// An action that goes away without being taken is cancelled: no run is asked for.
func TestActionThatIsGone(t *testing.T) {
	w := newWorld()
	w.setSchedule(false)
	w.look(t)
	r := w.only(t, "reattach_schedule")
	w.Schedule = nil
	w.expect(t, NoSatisfiedAction, 0)
	if got := w.records.records[r.ID]; got.Lifecycle != evidence.AttentionCancelled {
		t.Errorf("the record is %+v", got)
	}
}

// A concurrent save wins, and the next check decides.
func TestStaleSave(t *testing.T) {
	w, r := refused(t)
	w.wait(time.Minute)
	w.storeCredential()
	kept, ok, err := w.watcher.read(t.Context(), []string{"cin_1"}, w.now)
	if err != nil {
		t.Fatal(err)
	}
	r.Notice = attention.NoticeSent
	if err := w.records.Save(t.Context(), []attention.AttentionRecord{r}, ""); err != nil {
		t.Fatal(err)
	}
	h, err := w.watcher.one(t.Context(), &w.Evidence, kept["cin_1"], ok, w.now)
	if err != nil || h.Status != Blocked || h.ErrorCode != HoldChangedMeanwhile || len(w.records.asked) != 0 {
		t.Errorf("heal = %+v, %v", h, err)
	}
	w.expect(t, Started, 1)
	if got := w.only(t, "reauth"); got.Notice != attention.NoticeSent {
		t.Errorf("the record is %+v", got)
	}
}

// meddled is a book in which another process saves a record first.
type meddled struct {
	*book
	first func()
}

func (m meddled) Save(ctx context.Context, records []attention.AttentionRecord, run string) error {
	m.first()
	return m.book.Save(ctx, records, run)
}

// A connection with a concurrently saved record is checked again at once: no other event announces that it waits for
// its run.
func TestStaleSaveIsLookedAtAgain(t *testing.T) {
	w, r := refused(t)
	w.wait(time.Minute)
	w.storeCredential()
	w.watcher.Store = meddled{w.records, func() {
		r.Notice = attention.NoticeSent
		if err := w.records.Save(t.Context(), []attention.AttentionRecord{r}, ""); err != nil {
			t.Fatal(err)
		}
	}}
	again, err := w.watcher.Check(t.Context(), []evidence.Evidence{w.Evidence}, w.now)
	if at, asked := again["cin_1"]; err != nil || !asked || at.After(w.now) || len(w.records.asked) != 0 {
		t.Errorf("to be looked at again: %v, %v, with %d runs asked for", again, err, len(w.records.asked))
	}
	w.watcher.Store = w.records
	w.expect(t, Started, 1)
}

// failing is a book in which one connection cannot be saved.
type failing struct{ *book }

var errDisk = errors.New("the disk is full")

func (f failing) Save(ctx context.Context, records []attention.AttentionRecord, run string) error {
	if records[0].ConnectionID == "cin_1" {
		return errDisk
	}
	return f.book.Save(ctx, records, run)
}

// One connection that cannot be saved does not keep the others from being looked at.
func TestOneFailureIsNotAll(t *testing.T) {
	w := newWorld()
	w.run("auth_failure")
	first, second := w.Evidence, w.Evidence
	second.Connection.ID = "cin_2"
	w.watcher.Store = failing{w.records}
	_, err := w.watcher.Check(t.Context(), []evidence.Evidence{first, second}, w.now)
	if r := w.only(t, "reauth"); !errors.Is(err, errDisk) || r.ConnectionID != "cin_2" {
		t.Errorf("record of %s, %v", r.ConnectionID, err)
	}
	if _, err := w.watcher.Check(t.Context(), nil, w.now); err != nil {
		t.Error(err)
	}
}
