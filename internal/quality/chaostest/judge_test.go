package chaostest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/providersim/sample"
)

// judge checks all results after the workers have stopped.
func (w *world) judge(t *testing.T) {
	t.Helper()
	t.Attr("spec", "PB-08")
	t.Attr("spec", "PB-A07")
	w.judgeEvents(t)
	w.judgeWrites(t)
	w.judgeLeases(t)
	for _, s := range w.sources {
		w.judgeRecords(t, s)
	}
}

// judgeRecords holds what is stored of a connection against what its account has.
func (w *world) judgeRecords(t *testing.T, s source) {
	t.Helper()
	diff, err := w.bed(s).Compare(t.Context())
	must(t, err)
	if len(diff) > 0 {
		var lines []string
		for _, d := range diff[:min(len(diff), 8)] {
			lines = append(lines, d.String())
		}
		t.Errorf("%s differs from its account in %d things:\n%s\n%s", s.id, len(diff), strings.Join(lines, "\n"),
			w.history(t, s.id))
	}
	// An event never changes, so a second version would be a record stored twice.
	events, err := connectortest.StoredRecords(t.Context(), only{w.store, s.id}, sample.StreamEvents)
	must(t, err)
	for key, r := range events {
		if r.Version != 1 {
			t.Errorf("%s: event %s was written %d times", s.id, key, r.Version)
		}
	}
	for _, items := range s.account.Sim.Truth() {
		w.tally.records += len(items)
	}
	gaps, err := w.store.ListGaps(t.Context(), store.GapQuery{ConnectionID: s.id, Missing: true, Limit: 1 << 20})
	must(t, err)
	w.tally.missing += len(gaps)
}

// judgeLeases makes sure that nothing is held any more, and that every run had a
// generation of its own.
func (w *world) judgeLeases(t *testing.T) {
	t.Helper()
	for what, query := range map[string]string{
		"leases are held":         `SELECT count(*) FROM run_leases WHERE run_id IS NOT NULL`,
		"runs draw on allowances": `SELECT count(*) FROM allowance_members`,
		"gaps are leased":         `SELECT count(*) FROM connector_detail_gaps WHERE lease_run_id IS NOT NULL`,
		"runs count as under way": `SELECT count(*) FROM run_history WHERE status = 'running'`,
		"connections have more or fewer runs than generations": `SELECT count(*) FROM run_leases l WHERE generation <>
			(SELECT count(*) FROM run_history r WHERE r.connection_id = l.connection_id)`,
	} {
		var n int
		if err := w.sql.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
			t.Errorf("%s: %v", what, err)
		} else if n > 0 {
			t.Errorf("%d %s", n, what)
		}
	}
}

// judgeWrites holds the order in which writes became durable against the order of
// the runs. Sequence numbers and commit ids are handed out in the transaction
// that holds the lease: one of an older run after one of a newer run would be the
// write of a worker that had lost its lease.
func (w *world) judgeWrites(t *testing.T) {
	t.Helper()
	w.inOrder(t, "records", `SELECT stream_id, run_no FROM (
		SELECT stream_id, seq, run_no FROM records UNION ALL
		SELECT r.stream_id, h.seq, h.run_no FROM record_history h JOIN records r ON r.id = h.record_id) AS writes 
		ORDER BY stream_id, seq`)
	w.inOrder(t, "cursors", `SELECT c.connection_id, r.run_no FROM cursor_log c JOIN run_history r ON r.run_id = c.run_id
		ORDER BY c.connection_id, c.commit_id`)
}

func (w *world) inOrder(t *testing.T, what, query string) {
	t.Helper()
	rows, err := w.sql.QueryContext(t.Context(), query)
	must(t, err)
	defer rows.Close()
	var of, before any
	var newest int64
	writes := 0
	for rows.Next() {
		var run int64
		must(t, rows.Scan(&of, &run))
		if fmt.Sprint(of) != fmt.Sprint(before) {
			before, newest = of, 0
		}
		if run < newest {
			t.Errorf("%s of %v: run %d wrote after run %d had begun to", what, of, run, newest)
		}
		newest = max(newest, run)
		writes++
	}
	must(t, rows.Err())
	if writes == 0 {
		t.Errorf("no %s were written at all", what)
	}
}
