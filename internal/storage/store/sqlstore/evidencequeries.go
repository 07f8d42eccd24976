package sqlstore

import (
	"strings"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// pageScope is the condition that a column names a connection of the page: one of the requested ids, or one in the
// page's range. The range includes revoked connections and drafts, which the page leaves out.
type pageScope struct {
	db          *DB
	named       any // the requested ids; nil for a range
	after, last string
	args        []any
}

// bind starts a statement and returns its text and arguments.
func (w *pageScope) bind(s familyStatement) (text string, args []any) {
	w.args = nil
	text = s.text(w)
	return text, w.args
}

// pageCondition returns the condition for one occurrence in a statement and adds its arguments.
func (w *pageScope) pageCondition(column string) string {
	if w.named != nil {
		w.args = append(w.args, w.named)
		return w.db.dialect.InList(column)
	}
	w.args = append(w.args, w.after, w.last)
	return column + ` > ? AND ` + column + ` <= ?`
}

// newPageScope starts with the requested connections. The range of a page is known once its connections have been
// read.
func (db *DB) newPageScope(q evidence.Query) (*pageScope, error) {
	w := &pageScope{db: db, after: q.After}
	if q.ConnectionIDs == nil {
		return w, nil
	}
	var err error
	w.named, err = db.dialect.ListArgument(q.ConnectionIDs)
	return w, err
}

// connectionsQuery selects the page itself.
func (w *pageScope) connectionsQuery(limit int) (text string, args []any) {
	const columns = `SELECT connection_id, connector_id, display_name, status, source_kind, manifest_generation, created_at
		FROM connections WHERE `
	if w.named != nil {
		return columns + w.db.dialect.InList("connection_id") + ` ORDER BY connection_id`, []any{w.named}
	}
	return columns + `connection_id > ? AND status NOT IN ('revoked', 'draft') ORDER BY connection_id LIMIT ?`,
		[]any{w.after, limitOrDefault(limit, 100)}
}

func manifestsQuery(in *pageScope) string {
	return `SELECT connector_id, generation, body FROM connector_manifests
		WHERE (connector_id, generation) IN (SELECT connector_id, manifest_generation FROM connections
		WHERE ` + in.pageCondition("connection_id") + `)`
}

// The cost in the driver is per column. So statements with many rows join columns of fixed width, or without spaces,
// into one, and select NULL for what is mostly absent.

// streamsQuery joins count and time of change, and the time, status and id of the run that measured the facts.
func streamsQuery(in *pageScope) string {
	return `SELECT connection_id, name, live_records || ' ' || coalesce(changed_at, ''), facts_json,
			facts_at || facts_status || ' ' || facts_run_id
		FROM streams WHERE ` + in.pageCondition("connection_id") + ` ORDER BY connection_id, name`
}

// selectionsQuery selects the choices of owners and the streams that they deleted.
func selectionsQuery(in *pageScope) string {
	return `SELECT c.connection_id, s.value, '' FROM connections c
		JOIN settings s ON s.name = '` + store.SelectionSetting + `' || c.connection_id
		WHERE ` + in.pageCondition("c.connection_id") + `
		UNION ALL SELECT u.connection_id, NULL, u.stream FROM deletion_rules u
		WHERE u.stream <> '' AND u.key_hash = '' AND u.since = '' AND u.until = '' AND ` + in.pageCondition("u.connection_id")
}

// endedRunsQuery selects the newest ended run of each connection and, if it did not succeed, when the newest
// successful one ended. The conditions on status match the partial indexes. Abandoned device runs are left out,
// because heartbeats describe a device; so are undo runs. The last columns report whether a device's run measured
// nothing, and whether a failed run had an unanswered question.
func endedRunsQuery(in *pageScope) string {
	return `SELECT c.connection_id, r.run_id, r.status, r.trigger_kind, r.recovery_only,
		r.started_at || coalesce(r.completed_at, ''),
			coalesce(r.records_committed, r.records_emitted), CASE WHEN r.records_committed IS NULL
			THEN r.checkpoint_summary_json END,
			r.gaps_recovered, r.collection_rate_json,
			nullif(r.failure_reason, ''), nullif(r.terminal_reason, ''), nullif(r.error, ''), r.connector_error_json,
			CASE WHEN r.status <> 'succeeded' THEN (SELECT s.completed_at FROM run_history s
				WHERE s.connection_id = c.connection_id AND s.status = 'succeeded' AND s.trigger_kind <> 'undo'
				ORDER BY s.run_no DESC LIMIT 1) END,
			r.trigger_kind = 'device' AND r.status = 'succeeded' AND r.facts_json IS NULL,
			r.status <> 'succeeded' AND EXISTS (SELECT 1 FROM interactions i WHERE i.run_id = r.run_id
			AND i.status IN ('cancelled', 'timeout'))
		FROM connections c JOIN run_history r ON r.run_no = (SELECT e.run_no FROM run_history e
			WHERE e.connection_id = c.connection_id AND e.status NOT IN ('running', 'skipped')
				AND NOT (e.trigger_kind = 'device' AND e.status = 'abandoned') AND e.trigger_kind <> 'undo'
				ORDER BY e.run_no DESC LIMIT 1)
		WHERE ` + in.pageCondition("c.connection_id")
}

// activeRunsQuery selects the runs that hold a lease and, without an id, the requested ones. Device runs are left
// out: heartbeats describe them.
func activeRunsQuery(in *pageScope) string {
	return `SELECT l.connection_id, l.run_id, r.started_at, coalesce(l.expires_at, '') FROM run_leases l
		JOIN run_history r ON r.run_no = l.run_no
		WHERE l.run_id IS NOT NULL AND r.trigger_kind NOT IN ('device', 'undo') AND ` + in.pageCondition("l.connection_id") +
		`
		UNION ALL SELECT connection_id, '', min(requested_at), '' FROM run_requests
		WHERE ` + in.pageCondition("connection_id") + ` GROUP BY connection_id`
}

func schedulesQuery(in *pageScope) string {
	return `SELECT connection_id, enabled, interval_seconds, jitter_seconds, updated_at FROM connector_schedules WHERE ` +
		in.pageCondition("connection_id")
}

func backoffsQuery(in *pageScope) string {
	return `SELECT connection_id, reason_class, consecutive_failures, observed_at, coalesce(next_attempt_at, '')
		FROM scheduler_backoffs WHERE ` + in.pageCondition("connection_id")
}

func credentialsQuery(in *pageScope) string {
	return `SELECT connection_id, status, captured_at, coalesce(rejected_at, ''), rejection_reason,
		CASE WHEN renewable = 0 THEN coalesce(token_expires_at, '') ELSE '' END
		FROM connection_credentials WHERE ` + in.pageCondition("connection_id")
}

func probesQuery(in *pageScope) string {
	return `SELECT connection_id, dimension, name, status, reason, observed_at, coalesce(expires_at, '')
		FROM readiness_probes WHERE ` + in.pageCondition("connection_id") + ` ORDER BY connection_id, dimension, name`
}

func attentionQuery(in *pageScope) string {
	return `SELECT connection_id, request_id, run_id, kind, opened_at, coalesce(expires_at, '')
		FROM interactions WHERE closed_at IS NULL AND ` + in.pageCondition("connection_id") +
		` ORDER BY opened_at, request_id`
}

func openGapsQuery(in *pageScope) string {
	return `SELECT connection_id, stream, reason, count(*), max(attempt_count), coalesce(max(next_attempt_after), ''),
		coalesce(min(coalesce(next_attempt_after, '')), '')
		FROM connector_detail_gaps WHERE status IN ('pending', 'in_progress') AND ` + in.pageCondition("connection_id") + `
		GROUP BY connection_id, stream, reason ORDER BY connection_id, stream, reason`
}

// closedGapsQuery counts gaps that pressure deferred and a later run fetched, and terminal gaps that the owner did
// not ignore.
func closedGapsQuery(in *pageScope) string {
	return `SELECT connection_id, 'recovered', count(*) FROM connector_detail_gaps
			WHERE status = 'recovered' AND reason IN (` + pressureReasons + `) AND ` + in.pageCondition("connection_id") + `
			GROUP BY connection_id
		UNION ALL SELECT connection_id, 'terminal', count(*) FROM connector_detail_gaps
			WHERE status = 'terminal' AND ignored_why = '' AND ` + in.pageCondition("connection_id") + ` GROUP BY connection_id`
}

// pressureReasons are protocol.SourcePressureReasons as an SQL list.
var pressureReasons = func() string {
	quoted := make([]string, len(protocol.SourcePressureReasons))
	for i, r := range protocol.SourcePressureReasons {
		quoted[i] = `'` + string(r) + `'`
	}
	return strings.Join(quoted, ", ")
}()

func deviceSourcesQuery(in *pageScope) string {
	return `SELECT s.connection_id, s.source_instance_id, d.display_name, d.status, s.status, coalesce(s.revoked_at,
		d.revoked_at, ''),
			coalesce(s.last_heartbeat_at, ''), s.last_heartbeat_status, s.records_pending, coalesce(s.outbox_diagnostics_json,
			''), coalesce(d.doubled_at, '')
		FROM device_source_instances s JOIN device_exporters d ON d.device_id = s.device_id
		WHERE ` + in.pageCondition("s.connection_id") + ` ORDER BY s.created_at, s.source_instance_id`
}

// coverageStream is the stream in which collectors on devices report the stores they know.
const coverageStream = "coverage_diagnostics"

func coverageStoresQuery(in *pageScope) string {
	return `SELECT s.connection_id, r.record_key, r.data FROM streams s JOIN records r ON r.stream_id = s.stream_id
		WHERE s.name = '` + coverageStream + `' AND r.data IS NOT NULL AND ` + in.pageCondition("s.connection_id") +
		` ORDER BY s.connection_id, r.record_key`
}
