package storetest

import (
	"context"
	"database/sql/driver"
	"slices"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// RunWork tests what schedulers and workers do all the time, where a store does not show it: what it leaves in the
// tables, and how it reads.
func RunWork(t *testing.T, open func(t *testing.T) Damaged) {
	t.Run("Erased", func(t *testing.T) {
		t.Parallel()
		testErased(t, open(t))
	})
	t.Run("Idle", func(t *testing.T) {
		t.Parallel()
		testIdle(t, open(t))
	})
	t.Run("Overtaken", func(t *testing.T) {
		t.Parallel()
		testClaimOvertaken(t, open(t))
	})
	t.Run("Plans", func(t *testing.T) {
		t.Parallel()
		testPlans(t, open(t))
	})
	t.Run("FieldPlans", func(t *testing.T) {
		t.Parallel()
		testFieldPlans(t, open(t))
	})
	t.Run("TimePlans", func(t *testing.T) {
		t.Parallel()
		testTimePlans(t, open(t))
	})
}

// testErased checks that neither the key nor the answer of a question stays after its end.
func testErased(t *testing.T, d Damaged) {
	ctx := t.Context()
	connect(t, d.Store, "c")
	for _, end := range []struct {
		name string
		do   func(l store.Lease) error
	}{
		{"CloseInteraction", func(l store.Lease) error {
			return d.Store.CloseInteraction(ctx, l, "q",
				protocol.ResponseSuccess, Now)
		}},
		{"FinishRun", func(l store.Lease) error {
			return d.Store.FinishRun(ctx, l, store.RunOutcome{Status: store.RunFailed, Event: slice.Event{Type: "run.failed"}},
				Now)
		}},
		{"Reclaim", func(store.Lease) error { _, err := d.Store.AbandonExpiredRuns(ctx, Now.Add(ttl), 10); return err }},
		{"StartRun", func(store.Lease) error {
			_, err := d.Store.StartRun(ctx, runStart("c", "r-next"), Now.Add(ttl))
			return err
		}},
	} {
		l := start(t, d.Store, "c", "r-"+end.name, Now)
		ok(t, d.Store.OpenInteraction(ctx, l, store.Interaction{RequestID: "q", Kind: protocol.AskOTP, Key: []byte("key"),
			OpenedAt: Now}, Now))
		ok(t, d.Store.AnswerInteraction(ctx, l.RunID, "q", []byte("sealed"), Now))
		kept := func() (n int) {
			t.Helper()
			ok(t, d.Raw.QueryRowContext(ctx,
				`SELECT count(*) FROM interactions WHERE answer_key IS NOT NULL AND sealed_answer IS NOT NULL`).Scan(&n))
			return n
		}
		same(t, kept(), 1)
		ok(t, end.do(l))
		var left int
		ok(t, d.Raw.QueryRowContext(ctx,
			`SELECT count(*) FROM interactions WHERE answer_key IS NOT NULL OR sealed_answer IS NOT NULL`).Scan(&left))
		if left > 0 {
			t.Errorf("%s leaves something to read", end.name)
		}
		if active, err := d.Store.ActiveLease(ctx, "c"); err == nil {
			finish(t, d.Store, active, Now)
		}
	}
}

// testIdle checks that a pass that finds nothing due reads twice and writes nothing.
func testIdle(t *testing.T, d Damaged) {
	w := &Watch{}
	s := d.Watched(w)
	connect(t, s, "held")
	same(t, checkIDs(claimAllChecks(t, s, Now)), []string{"held"})
	connect(t, s, "draft")
	ok(t, s.UpdateConnection(t.Context(), store.Connection{ID: "draft", Status: store.ConnectionDraft, UpdatedAt: Now}))
	writes, queries := w.writes.Load(), w.queries.Load()
	same(t, claimAllChecks(t, s, Now), nil)
	requests, err := s.ListRunRequests(t.Context(), "")
	ok(t, err)
	same(t, len(requests), 0)
	same(t, w.queries.Load()-queries, 2)
	same(t, w.writes.Load(), writes)
	same(t, checkIDs(claimAllChecks(t, s, Now.Add(checkHold))), []string{"held"})
	if w.writes.Load() == writes {
		t.Error("what takes a look is not seen to write")
	}
}

// testClaimOvertaken checks that a process claims the rest when others have claimed what it found.
func testClaimOvertaken(t *testing.T, d Damaged) {
	ids := numberedConnections(t, d.Store, 25)
	w := &Watch{}
	s := d.Watched(w)
	var others []string
	w.begin = func() {
		if len(others) < 12 {
			all, err := d.Store.ClaimChecks(t.Context(), Now, checkHold, 6)
			ok(t, err)
			others = append(others, checkIDs(all)...)
		}
	}
	for _, want := range [][]string{slices.Concat(ids[6:10], ids[16:22]), ids[22:], nil} {
		all, err := s.ClaimChecks(t.Context(), Now, checkHold, 10)
		ok(t, err)
		same(t, checkIDs(all), want)
	}
	same(t, others, slices.Concat(ids[:6], ids[10:16]))
}

// testPlans checks that frequent reads use the index that contains only the wanted rows.
func testPlans(t *testing.T, d Damaged) {
	var plan string
	w := &Watch{}
	s := d.Watched(w)
	w.seen = func(query string, args []driver.NamedValue) {
		values := make([]any, len(args))
		for i, a := range args {
			values[i] = a.Value
		}
		text, err := d.Explain(t.Context(), query, values)
		if err != nil {
			t.Error(err)
		}
		plan += text
	}
	for _, c := range []struct {
		name  string
		read  func(ctx context.Context) error
		index []string
	}{
		{"Looks", func(ctx context.Context) error { _, err := s.ClaimChecks(ctx, Now, checkHold, 10); return err },
			[]string{"connections_to_look_at"}},
		{"Signals", func(ctx context.Context) error { _, err := s.Signals(ctx, Now); return err },
			[]string{"run_leases_cancelled", "interactions_answered", "run_history_of_grants"}},
		{"Reclaim", func(ctx context.Context) error { _, err := s.AbandonExpiredRuns(ctx, Now, 10); return err },
			[]string{"run_leases_by_expiry"}},
		{"Attention of some", func(ctx context.Context) error {
			_, err := s.Attention(ctx, store.AttentionQuery{ConnectionIDs: []string{"c"}})
			return err
		}, []string{"connector_attention_records_by_connection"}},
		{"Attention to push", func(ctx context.Context) error {
			_, err := s.Attention(ctx, store.AttentionQuery{Notice: attention.NoticePending})
			return err
		}, []string{"connector_attention_records_open_by_notice"}},
	} {
		plan = ""
		ok(t, c.read(t.Context()))
		if missing := slices.ContainsFunc(c.index,
			func(index string) bool { return !strings.Contains(plan, index) }); missing {
			t.Errorf("%s does not read by %q:\n%s", c.name, c.index, plan)
		}
		if c.name == "Looks" && (strings.Contains(plan, "Sort") || strings.Contains(plan, "TEMP B-TREE")) {
			t.Errorf("%s sorts what the index has in order:\n%s", c.name, plan)
		}
	}
}
