package chaostest

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/cadence"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// history returns a description of a connection for a test failure: its last runs, newest first,
// what it lacks, and why it does not run.
func (w *world) history(t *testing.T, id string) string {
	t.Helper()
	var out strings.Builder
	if found, err := w.store.Evidence(t.Context(), evidence.Query{ConnectionIDs: []string{id}}); err == nil &&
		len(found) > 0 {
		d := cadence.Decide(&found[0], time.Now())
		fmt.Fprintf(&out, "%s", d.Why)
		if d.At != nil {
			fmt.Fprintf(&out, ", next run %s", w.sinceCalm(*d.At))
		}
		for _, wait := range found[0].Waits {
			fmt.Fprintf(&out, "\n  leaves %s alone until %s: %s", wait.Sender, w.sinceCalm(wait.Until), wait.Reason)
		}
	}
	runs, err := w.store.ListRuns(t.Context(), store.RunQuery{ConnectionID: id, Limit: 8})
	if err != nil {
		fmt.Fprintf(&out, "\n  runs: %v", err)
	}
	for _, r := range runs {
		fmt.Fprintf(&out, "\n  %s, %s", r.ID, r.Trigger)
		if r.RecoveryOnly {
			out.WriteString(", recovery only")
		}
		fmt.Fprintf(&out, ": %s with %d records, began %s", r.Status, r.RecordsEmitted, w.sinceCalm(r.StartedAt))
		if r.CompletedAt != nil {
			fmt.Fprintf(&out, ", took %.1f s", r.CompletedAt.Sub(r.StartedAt).Seconds())
		}
		if r.FailureReason != "" {
			fmt.Fprintf(&out, "; %s %s %s", r.FailureReason, r.Error, r.ConnectorError)
		}
	}
	gaps, err := w.store.ListGaps(t.Context(), store.GapQuery{ConnectionID: id, Limit: 1 << 20})
	if err != nil {
		fmt.Fprintf(&out, "\n  gaps: %v", err)
	}
	for _, g := range gaps {
		if g.Status != protocol.GapPending {
			continue
		}
		fmt.Fprintf(&out, "\n  lacks %s %s since %s: %s, %d attempts, last run %s, read up to %s",
			g.Stream, g.RecordKey, g.DiscoveredRun, g.Reason, g.AttemptCount, g.LastRun, g.ListCursor)
		if g.NotBefore != nil {
			fmt.Fprintf(&out, ", not before %s", w.sinceCalm(*g.NotBefore))
		}
	}
	w.queued(t, &out, id)
	return out.String()
}

// queued writes the newest jobs of a connection, and when the scheduler checks it next.
func (w *world) queued(t *testing.T, out io.Writer, id string) {
	t.Helper()
	of := `json_extract(args, '$.connection_id')`
	if w.database != "" {
		of = `args ->> 'connection_id'`
	}
	rows, err := w.sql.QueryContext(t.Context(),
		fmt.Sprintf(`SELECT 'job ' || id || ' is ' || CAST(state AS TEXT) || ', taken at ' || coalesce(CAST(attempted_at AS TEXT), 'no time')
		|| ', due at ' || CAST(scheduled_at AS TEXT) FROM river_job WHERE %s = '%s'
		UNION ALL SELECT 'looked at again at ' || look_at FROM connections WHERE connection_id = '%[2]s' 
		ORDER BY 1 DESC LIMIT 4`, of, id))
	if err != nil {
		fmt.Fprintf(out, "\n  jobs: %v", err)
		return
	}
	defer rows.Close()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err == nil {
			fmt.Fprintf(out, "\n  %s", line)
		}
	}
}

func (w *world) sinceCalm(at time.Time) string {
	return fmt.Sprintf("%.1f s after the calm", at.Sub(w.calm).Seconds())
}

// lastWords logs the last output of the workers after a failure.
func (w *world) lastWords(t *testing.T) {
	if !t.Failed() {
		return
	}
	w.journal.mu.Lock()
	defer w.journal.mu.Unlock()
	t.Logf("the workers said last:\n%s", strings.Join(w.journal.tail[max(0, len(w.journal.tail)-30):], "\n"))
}
