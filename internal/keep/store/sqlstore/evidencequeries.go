package sqlstore

import (
	"strings"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// within is the condition that a column names a connection of the page: one of
// those that were asked for, or one of the range that the page spans. The range
// includes revoked connections, which the page leaves out.
type within struct {
	db          *DB
	named       any // the list of those that were asked for; nil for a range
	after, last string
	args        []any
}

// start begins a statement and gives its text.
func (w *within) start(s statement) (text string, args []any) {
	w.args = nil
	text = s.text(w)
	return text, w.args
}

// page gives the condition for one occurrence of it in a statement and adds its arguments.
func (w *within) page(column string) string {
	if w.named != nil {
		w.args = append(w.args, w.named)
		return w.db.dialect.Among(column)
	}
	w.args = append(w.args, w.after, w.last)
	return column + ` > ? AND ` + column + ` <= ?`
}

// within begins with the connections that were asked for; what the page spans is
// known once it has been read.
func (db *DB) within(q evidence.Query) (*within, error) {
	w := &within{db: db, after: q.After}
	if q.ConnectionIDs == nil {
		return w, nil
	}
	var err error
	w.named, err = db.dialect.List(q.ConnectionIDs)
	return w, err
}

// connectionsQuery selects the page itself.
func (w *within) connectionsQuery(limit int) (text string, args []any) {
	const columns = `SELECT connection_id, connector_id, display_name, status, source_kind, manifest_generation, created_at FROM connections WHERE `
	if w.named != nil {
		return columns + w.db.dialect.Among("connection_id") + ` ORDER BY connection_id`, []any{w.named}
	}
	return columns + `connection_id > ? AND status <> 'revoked' ORDER BY connection_id LIMIT ?`, []any{w.after, limitOr(limit, 100)}
}

func manifestsQuery(in *within) string {
	return `SELECT connector_id, generation, body FROM connector_manifests
		WHERE (connector_id, generation) IN (SELECT connector_id, manifest_generation FROM connections WHERE ` + in.page("connection_id") + `)`
}

// A driver's cost is by the column, so statements with many rows join what is of
// fixed width, or has no spaces, into one; and what is mostly absent is NULL.

// streamsQuery joins count and time of change, and time, status and id of the
// run that the facts are of.
func streamsQuery(in *within) string {
	return `SELECT connection_id, name, live_records || ' ' || coalesce(changed_at, ''), facts_json,
			facts_at || facts_status || ' ' || facts_run_id
		FROM streams WHERE ` + in.page("connection_id") + ` ORDER BY connection_id, name`
}

// selectionsQuery finds what owners chose, where they did, and the streams that they deleted.
func selectionsQuery(in *within) string {
	return `SELECT c.connection_id, s.value, '' FROM connections c
		JOIN settings s ON s.name = '` + store.SelectionSetting + `' || c.connection_id
		WHERE ` + in.page("c.connection_id") + `
		UNION ALL SELECT u.connection_id, NULL, u.stream FROM deletion_rules u
		WHERE u.stream <> '' AND u.key_hash = '' AND u.since = '' AND u.until = '' AND ` + in.page("u.connection_id")
}

// endedRunsQuery finds the newest ended run of each connection and, when that
// one did not succeed, when the newest one that did had ended. The conditions on
// status are those of the partial indexes. A device's run that was abandoned is left
// out: a closed lid is judged by heartbeats. So is one that took back what a device sent. The last columns say of a device's run that
// it measured nothing, and of one that did not succeed that a question of it was not answered.
func endedRunsQuery(in *within) string {
	return `SELECT c.connection_id, r.run_id, r.status, r.trigger_kind, r.recovery_only, r.started_at || coalesce(r.completed_at, ''),
			coalesce(r.records_committed, r.records_emitted), CASE WHEN r.records_committed IS NULL THEN r.checkpoint_summary_json END,
			r.gaps_recovered, r.collection_rate_json,
			nullif(r.failure_reason, ''), nullif(r.terminal_reason, ''), nullif(r.error, ''), r.connector_error_json,
			CASE WHEN r.status <> 'succeeded' THEN (SELECT s.completed_at FROM run_history s
				WHERE s.connection_id = c.connection_id AND s.status = 'succeeded' AND s.trigger_kind <> 'undo' ORDER BY s.run_no DESC LIMIT 1) END,
			r.trigger_kind = 'device' AND r.status = 'succeeded' AND r.facts_json IS NULL,
			r.status <> 'succeeded' AND EXISTS (SELECT 1 FROM interactions i WHERE i.run_id = r.run_id AND i.status IN ('cancelled', 'timeout'))
		FROM connections c JOIN run_history r ON r.run_no = (SELECT e.run_no FROM run_history e
			WHERE e.connection_id = c.connection_id AND e.status NOT IN ('running', 'skipped')
				AND NOT (e.trigger_kind = 'device' AND e.status = 'abandoned') AND e.trigger_kind <> 'undo' ORDER BY e.run_no DESC LIMIT 1)
		WHERE ` + in.page("c.connection_id")
}

// activeRunsQuery gives the runs that hold a lease and, without an id, those that
// were asked for. What a device does is told by its heartbeats, not by its run.
func activeRunsQuery(in *within) string {
	return `SELECT l.connection_id, l.run_id, r.started_at, coalesce(l.expires_at, '') FROM run_leases l JOIN run_history r ON r.run_no = l.run_no
		WHERE l.run_id IS NOT NULL AND r.trigger_kind NOT IN ('device', 'undo') AND ` + in.page("l.connection_id") + `
		UNION ALL SELECT connection_id, '', min(requested_at), '' FROM run_requests WHERE ` + in.page("connection_id") + ` GROUP BY connection_id`
}

func schedulesQuery(in *within) string {
	return `SELECT connection_id, enabled, interval_seconds, jitter_seconds, updated_at FROM connector_schedules WHERE ` + in.page("connection_id")
}

func backoffsQuery(in *within) string {
	return `SELECT connection_id, reason_class, consecutive_failures, observed_at, coalesce(next_attempt_at, '')
		FROM scheduler_backoffs WHERE ` + in.page("connection_id")
}

func credentialsQuery(in *within) string {
	return `SELECT connection_id, status, captured_at, coalesce(rejected_at, ''), rejection_reason,
		CASE WHEN renewable = 0 THEN coalesce(token_expires_at, '') ELSE '' END
		FROM connection_credentials WHERE ` + in.page("connection_id")
}

func probesQuery(in *within) string {
	return `SELECT connection_id, dimension, name, status, reason, observed_at, coalesce(expires_at, '')
		FROM readiness_probes WHERE ` + in.page("connection_id") + ` ORDER BY connection_id, dimension, name`
}

func attentionQuery(in *within) string {
	return `SELECT connection_id, request_id, run_id, kind, opened_at, coalesce(expires_at, '')
		FROM interactions WHERE closed_at IS NULL AND ` + in.page("connection_id") + ` ORDER BY opened_at, request_id`
}

func openGapsQuery(in *within) string {
	return `SELECT connection_id, stream, reason, count(*), max(attempt_count), coalesce(max(next_attempt_after), ''), coalesce(min(coalesce(next_attempt_after, '')), '')
		FROM connector_detail_gaps WHERE status IN ('pending', 'in_progress') AND ` + in.page("connection_id") + `
		GROUP BY connection_id, stream, reason ORDER BY connection_id, stream, reason`
}

// closedGapsQuery counts what pressure had deferred and was fetched later, and
// what nobody can fetch and the owner did not set aside.
func closedGapsQuery(in *within) string {
	return `SELECT connection_id, 'recovered', count(*) FROM connector_detail_gaps
			WHERE status = 'recovered' AND reason IN (` + pressureReasons + `) AND ` + in.page("connection_id") + ` GROUP BY connection_id
		UNION ALL SELECT connection_id, 'terminal', count(*) FROM connector_detail_gaps
			WHERE status = 'terminal' AND ignored_why = '' AND ` + in.page("connection_id") + ` GROUP BY connection_id`
}

// pressureReasons are the words of protocol.SourcePressureReasons as SQL.
var pressureReasons = func() string {
	quoted := make([]string, len(protocol.SourcePressureReasons))
	for i, r := range protocol.SourcePressureReasons {
		quoted[i] = `'` + string(r) + `'`
	}
	return strings.Join(quoted, ", ")
}()

func deviceSourcesQuery(in *within) string {
	return `SELECT s.connection_id, s.source_instance_id, d.display_name, d.status, s.status, coalesce(s.revoked_at, d.revoked_at, ''),
			coalesce(s.last_heartbeat_at, ''), s.last_heartbeat_status, s.records_pending, coalesce(s.outbox_diagnostics_json, ''), coalesce(d.doubled_at, '')
		FROM device_source_instances s JOIN device_exporters d ON d.device_id = s.device_id
		WHERE ` + in.page("s.connection_id") + ` ORDER BY s.created_at, s.source_instance_id`
}

// coverageStream is where collectors on devices account for the stores they know.
const coverageStream = "coverage_diagnostics"

func coverageStoresQuery(in *within) string {
	return `SELECT s.connection_id, r.record_key, r.data FROM streams s JOIN records r ON r.stream_id = s.stream_id
		WHERE s.name = '` + coverageStream + `' AND r.data IS NOT NULL AND ` + in.page("s.connection_id") + ` ORDER BY s.connection_id, r.record_key`
}
