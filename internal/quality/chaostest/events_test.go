package chaostest

import (
	"testing"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// happening is one entry of the event log. Its order is when the database made it durable: the
// commit time in PostgreSQL, the row number in SQLite.
type happening struct {
	connection, run, status, kind string
	runNo, seq, order             int64
}

// terminal maps the events that end a run to the status that it then has.
var terminal = map[string]store.RunStatus{
	"run.completed": store.RunSucceeded, "run.failed": store.RunFailed, "run.cancelled": store.RunCancelled,
	"run.abandoned": store.RunAbandoned,
}

// judgeEvents reads the whole log. Every run begins with its start, ends with
// exactly one end, and nothing of it comes later; and of one connection no run
// has an entry before the last one of the run before it.
func (w *world) judgeEvents(t *testing.T) {
	t.Helper()
	var connection string
	var last int64 // of the connection's runs before this one
	for _, run := range w.runs(t) {
		first, end := run[0], run[len(run)-1]
		if first.connection != connection {
			connection, last = first.connection, 0
		}
		w.tally.runs++
		w.tally.events += len(run)
		if end.status == string(store.RunAbandoned) {
			w.tally.abandoned++
		}
		if first.kind != "run.started" || first.seq != 1 {
			t.Errorf("run %s begins with %s, its event %d", first.run, first.kind, first.seq)
		}
		if status := terminal[end.kind]; status == "" || string(status) != end.status {
			t.Errorf("run %s is %s and ends with %s", end.run, end.status, end.kind)
		}
		if first.order < last {
			t.Errorf("run %s of %s began before the run before it had left off", first.run, connection)
		}
		for i, e := range run {
			if e.seq != int64(i+1) {
				t.Errorf("run %s has event %d at place %d", e.run, e.seq, i+1)
			}
			if i < len(run)-1 && terminal[e.kind] != "" {
				t.Errorf("run %s went on after %s", e.run, e.kind)
			}
			if i > 0 && e.order < run[i-1].order {
				t.Errorf("run %s: event %d became durable before event %d", e.run, e.seq, run[i-1].seq)
			}
			last = max(last, e.order)
		}
	}
}

// runs returns the log grouped by run, in the order of each connection's generations.
func (w *world) runs(t *testing.T) [][]happening {
	t.Helper()
	order := `e.rowid`
	if w.database != "" {
		order = `(extract(epoch FROM pg_xact_commit_timestamp(e.xmin)) * 1000000)::bigint`
	}
	rows, err := w.sql.QueryContext(t.Context(), `SELECT r.connection_id, r.run_id, r.status, e.event_type, r.run_no, `+
		`e.event_seq, `+order+`
		FROM run_history r JOIN run_events e ON e.run_no = r.run_no ORDER BY r.connection_id, r.run_no, e.event_seq`)
	must(t, err)
	defer rows.Close()
	var all [][]happening
	for rows.Next() {
		var h happening
		must(t, rows.Scan(&h.connection, &h.run, &h.status, &h.kind, &h.runNo, &h.seq, &h.order))
		if n := len(all); n == 0 || all[n-1][0].runNo != h.runNo {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], h)
	}
	must(t, rows.Err())
	var runs int
	must(t, w.sql.QueryRowContext(t.Context(), `SELECT count(*) FROM run_history`).Scan(&runs))
	if len(all) != runs {
		t.Errorf("%d of %d runs are in the event log", len(all), runs)
	}
	return all
}
