package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// testAttentionRace checks that of several writers of the same records, in any order, one succeeds and the others
// change nothing.
func testAttentionRace(t *testing.T, d shared) {
	stores := d.stores(t, 2)
	const connections, writers = 6, 4
	for i := range connections {
		connect(t, stores[0], fmt.Sprint("c", i))
	}
	for round := range 4 {
		old := records(t, stores[0], store.AttentionQuery{})
		errs := make([]error, writers)
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				errs[w] = stores[w%2].SaveAttention(t.Context(), supersede(old, connections, round, w),
					&store.RunRequest{ConnectionID: fmt.Sprint("c", w), Trigger: store.TriggerRetry, RequestedAt: Now})
			})
		}
		wg.Wait()
		winner := -1
		for w, err := range errs {
			switch {
			case err == nil && winner >= 0:
				t.Fatalf("writers %d and %d both saved", winner, w)
			case err == nil:
				winner = w
			case !errors.Is(err, store.ErrStale):
				t.Fatalf("error is %v, want %v", err, store.ErrStale)
			}
		}
		if winner < 0 {
			t.Fatal("nobody saved")
		}
		open := records(t, stores[0], store.AttentionQuery{})
		same(t, len(open), connections)
		for _, r := range open {
			same(t, r.Words, fmt.Sprint(round, " by ", winner))
		}
		waiting, err := stores[0].ListRunRequests(t.Context(), "")
		ok(t, err)
		same(t, len(waiting), 1)
		same(t, waiting[0].ConnectionID, fmt.Sprint("c", winner))
		ok(t, stores[0].WithdrawRun(t.Context(), waiting[0].ConnectionID))
	}
}

// supersede closes the old records and asks the same again in each connection, in an order that depends on the
// writer.
func supersede(old []attention.AttentionRecord, connections, round, writer int) (all []attention.AttentionRecord) {
	for _, r := range old {
		r.Move(evidence.AttentionSuperseded, Now)
		all = append(all, r)
	}
	for i := range connections {
		r := newAttention(fmt.Sprint("a", round, writer, i), fmt.Sprint("c", i), "")
		r.Words = fmt.Sprint(round, " by ", writer)
		all = append(all, r)
	}
	for i := range all {
		j := (i*(writer+1) + writer) % len(all)
		all[i], all[j] = all[j], all[i]
	}
	return all
}

// testAttentionLate checks that one writer can close records while another, which has not read them, asks the same
// again. There is no deadlock: the writer with the newest state saves, and the other gets ErrStale.
func testAttentionLate(t *testing.T, d shared) {
	stores := d.stores(t, 2)
	const connections = 10
	for i := range connections {
		connect(t, stores[0], fmt.Sprint("c", i))
	}
	common := save(t, stores[0], newAttention("z", "c9", ""))[0]
	for round := range 25 {
		late, early := []attention.AttentionRecord{common}, []attention.AttentionRecord{common}
		for i := range connections - 1 {
			r := newAttention(fmt.Sprint("a", round, "-", i), fmt.Sprint("c", i), "")
			again := r
			again.ID += "-late"
			late = append(late, again)
			r = save(t, stores[0], r)[0]
			r.Move(evidence.AttentionResolved, Now)
			early = append(early, r)
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := stores[0].SaveAttention(t.Context(), late, nil); !errors.Is(err, store.ErrStale) {
				t.Errorf("the late one gets %v", err)
			}
		})
		wg.Go(func() {
			if err := stores[1].SaveAttention(t.Context(), early, nil); err != nil {
				t.Error(err)
			}
		})
		wg.Wait()
		common.Revision++
		same(t, records(t, stores[0], store.AttentionQuery{}), []attention.AttentionRecord{common})
	}
}
