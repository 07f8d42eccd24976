package notify

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
)

// forgetful is a store that dies with the second save: the claim is kept, what
// became of it is not.
type forgetful struct {
	store.Store
	saves atomic.Int32
}

func (f *forgetful) SaveAttention(
	ctx context.Context,
	records []attention.AttentionRecord,
	run *store.RunRequest,
) error {
	if f.saves.Add(1) == 2 {
		return errPower
	}
	return f.Store.SaveAttention(ctx, records, run)
}

func openStore(t *testing.T) store.Store {
	t.Helper()
	st, err := sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, filepath.Join(t.TempDir(), "pdpp.db")), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	if err := st.CreateConnection(t.Context(),
		store.Connection{ID: "cin_1", ConnectorID: "lantern", DisplayName: "Ann's Läntern",
			Status: store.ConnectionActive, SourceKind: store.SourceAccount, CreatedAt: noon, UpdatedAt: noon}); err != nil {
		t.Fatal(err)
	}
	return st
}

func open(t *testing.T, st store.Store, ids ...string) {
	t.Helper()
	for _, id := range ids {
		r := pending(id)
		r.Revision = 0
		if err := st.SaveAttention(t.Context(), []attention.AttentionRecord{r}, nil); err != nil {
			t.Fatal(err)
		}
	}
}

func kept(t *testing.T, st store.Store, id string) attention.AttentionRecord {
	t.Helper()
	all, err := st.Attention(t.Context(), store.AttentionQuery{All: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		if r.ID == id {
			return r
		}
	}
	t.Fatalf("there is no record %s", id)
	return attention.AttentionRecord{}
}

// The same on the real store: once by many senders, a crash between sending and
// saving, a failure, and a subscription that is gone.
func TestOnTheRealStore(t *testing.T) {
	st, h := openStore(t), newHook(t, nil)
	if err := st.PutTarget(t.Context(), h.target("pt_1")); err != nil {
		t.Fatal(err)
	}
	open(t, st, "att_1", "att_2", "att_3")
	var wait sync.WaitGroup
	for range 3 {
		wait.Go(func() {
			if err := (&Sender{Store: st}).Deliver(t.Context(), noon); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if n := len(h.got()); n != 3 {
		t.Errorf("three records were sent %d times", n)
	}
	if r := kept(t, st, "att_2"); r.Notice != attention.NoticeSent || r.NoticeAt == nil || !r.NoticeAt.Equal(noon) {
		t.Errorf("record = %+v", r)
	}

	open(t, st, "att_4")
	if err := (&Sender{Store: &forgetful{Store: st}}).Deliver(t.Context(), noon); !errors.Is(err, errPower) {
		t.Fatalf("Deliver = %v", err)
	}
	for i := range 4 {
		mustDeliver(t, &Sender{Store: st}, noon.Add(time.Duration(i)*claimTime))
	}
	got := h.got()[3:]
	if len(got) != 2 || got[0].header.Get(IdempotencyHeader) != "att_4" ||
		got[1].header.Get(IdempotencyHeader) != "att_4" || kept(t, st, "att_4").Notice != attention.NoticeSent {
		t.Errorf("after a crash: received %+v, record %+v", got, kept(t, st, "att_4"))
	}

	// Resolved between the claim and the saving: what was sent is on record.
	open(t, st, "att_5")
	h.mu.Lock()
	h.answer = func(int) int {
		r := kept(t, st, "att_5")
		if r.Move(evidence.AttentionResolved, noon) {
			if err := st.SaveAttention(context.WithoutCancel(t.Context()), []attention.AttentionRecord{r}, nil); err != nil {
				t.Error(err)
			}
		}
		return 200
	}
	h.mu.Unlock()
	mustDeliver(t, &Sender{Store: st}, noon)
	if r := kept(t, st, "att_5"); r.Notice != attention.NoticeSent || r.Lifecycle != evidence.AttentionResolved {
		t.Errorf("resolved meanwhile: %+v", r)
	}
}

func TestVAPIDKeysInTheRealStore(t *testing.T) {
	st, key := openStore(t), credential.NewKey()
	a, err := LoadVAPID(t.Context(), st, key, "", noon)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := LoadVAPID(t.Context(), st, key, "", noon); err != nil || a.Public != b.Public ||
		!a.Private.Equal(b.Private) {
		t.Errorf("the second start has other keys: %v", err)
	}
}
