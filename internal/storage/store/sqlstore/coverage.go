package sqlstore

import (
	"context"
	"database/sql"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// A gap with a key that begins with two underscores covers part of a list; any other covers one item. The constants
// are the limits of that prefix in byte order.
const (
	partKey = `(g.record_key >= '__' AND g.record_key < '_` + "`" + `')`

	// The newest successful run is looked up only where the newest run failed.
	coverageQuery = `SELECT s.connection_id, s.name, c.source_kind,
			(SELECT max(e.completed_at) FROM run_history e WHERE e.run_no = (SELECT max(n.run_no) FROM run_history n
			WHERE n.connection_id = s.connection_id AND n.status = 'succeeded')),
			s.facts_json, s.facts_status, f.started_at, g.facts_json, g.started_at,
			CASE WHEN EXISTS (SELECT 1 FROM run_history u WHERE u.connection_id = s.connection_id AND u.trigger_kind = 'undo'
				AND u.run_no > coalesce(g.run_no, f.run_no, 0)) THEN 1 ELSE 0 END,
			CASE WHEN EXISTS (SELECT 1 FROM connector_detail_gaps g WHERE g.connection_id = s.connection_id AND g.stream = s.name
					AND g.status IN ('pending', 'in_progress') AND NOT ` + partKey + `)
				OR EXISTS (SELECT 1 FROM connector_detail_gaps g WHERE g.connection_id = s.connection_id AND g.stream = s.name
					AND g.status = 'terminal' AND NOT ` + partKey + `) THEN 1 ELSE 0 END,
			s.time_field, CASE WHEN s.time_seq >= s.last_seq THEN 1 ELSE 0 END,
			s.search_fields, CASE WHEN s.search_seq >= s.last_seq THEN 1 ELSE 0 END
		FROM streams s JOIN connections c ON c.connection_id = s.connection_id
		LEFT JOIN run_history f ON f.run_id = s.facts_run_id
		LEFT JOIN run_history g ON s.facts_status <> 'succeeded' AND g.run_no = (SELECT max(h.run_no) FROM run_history h
			WHERE h.connection_id = s.connection_id AND h.status = 'succeeded' AND h.facts_json IS NOT NULL)
		WHERE `
	partGapsQuery = `SELECT g.connection_id, g.stream, g.parent_stream, coalesce(g.detail_locator_json, '')
		FROM streams s JOIN connector_detail_gaps g ON g.connection_id = s.connection_id AND g.stream = s.name AND ` +
		partKey + `
		WHERE g.status <> 'recovered' AND `
	catchUpQuery = `SELECT connection_id, stream, coalesce(cursor_json, '') FROM connector_state
		WHERE mode = 'catch_up' AND grant_id = '' AND `
)

func (db *DB) Coverage(ctx context.Context, connectionIDs []string) ([]store.StreamCoverage, error) {
	if len(connectionIDs) == 0 {
		return nil, nil
	}
	ids, err := db.dialect.ListArgument(connectionIDs)
	if err != nil {
		return nil, err
	}
	// One snapshot, so that a gap that moves between the two queries is not lost.
	tx, err := db.readers(ctx).BeginTx(ctx, &sql.TxOptions{ReadOnly: true, Isolation: db.dialect.SnapshotLevel()})
	if err != nil {
		return nil, db.dialect.ClassifyError(err)
	}
	defer tx.Rollback()
	all, err := listRows(ctx, db, tx, scanCoverage,
		coverageQuery+db.dialect.InList("s.connection_id")+` ORDER BY s.connection_id, s.name`, ids)
	if err != nil {
		return nil, err
	}
	at := make(map[[2]string]*store.StreamCoverage, len(all))
	for i := range all {
		at[[2]string{all[i].ConnectionID, all[i].Stream}] = &all[i]
	}
	add := func(connection, stream string, gap store.RangeGap) {
		if c := at[[2]string{connection, stream}]; c != nil {
			c.RangeGaps = append(c.RangeGaps, gap)
		}
	}
	err = eachRow(ctx, db, tx, partGapsQuery+db.dialect.InList("s.connection_id"), []any{ids},
		func(row scanner) (bool, error) {
			var connection, stream, parent, locator string
			if err := row.Scan(&connection, &stream, &parent, &locator); err != nil {
				return false, err
			}
			add(connection, stream, store.RangeGap{Own: true, Locator: jsontext.Value(locator)})
			if parent != stream {
				add(connection, parent, store.RangeGap{Locator: jsontext.Value(locator)})
			}
			return true, nil
		})
	if err != nil {
		return nil, err
	}
	err = eachRow(ctx, db, tx, catchUpQuery+db.dialect.InList("connection_id"), []any{ids},
		func(row scanner) (bool, error) {
			var connection, stream, cursor string
			if err := row.Scan(&connection, &stream, &cursor); err != nil {
				return false, err
			}
			if c := at[[2]string{connection, stream}]; c != nil && cursor != "" && cursor != "null" {
				c.CatchUp = jsontext.Value(cursor)
			}
			return true, nil
		})
	return all, err
}

func scanCoverage(row scanner) (c store.StreamCoverage, err error) {
	var facts, status, started, earlier, earlierStarted sql.NullString
	var fields string
	err = row.Scan(&c.ConnectionID, &c.Stream, &c.SourceKind, intoTimePtr(&c.CapturedAt), &facts, &status, &started,
		&earlier, &earlierStarted,
		&c.Undone, &c.GapOpen, &c.TimeField, &c.TimesCurrent, &fields, &c.Indexed)
	if err != nil {
		return c, err
	}
	if c.SearchFields, err = parseStrings(fields); err != nil {
		return c, err
	}
	c.Newest = parseMeasurement(jsontext.Value(facts.String), store.RunStatus(status.String), started.String)
	for _, raw := range streamFacts(jsontext.Value(earlier.String)) {
		var name struct {
			Stream string `json:"stream"`
		}
		if json.Unmarshal(raw, &name) == nil && name.Stream == c.Stream {
			c.Succeeded = parseMeasurement(raw, store.RunSucceeded, earlierStarted.String)
		}
	}
	return c, nil
}

// parseMeasurement parses what a run measured about a stream. It returns nil when that is missing or unreadable, or
// when the start of the run is unknown.
func parseMeasurement(facts jsontext.Value, status store.RunStatus, started string) *store.StreamMeasurement {
	var f struct {
		Considered *int64               `json:"considered"`
		Covered    *int64               `json:"covered"`
		Checkpoint string               `json:"checkpoint"`
		Skipped    jsontext.Value       `json:"skipped"`
		Scope      jsontext.Value       `json:"collection_scope"`
		Drift      protocol.AnswerDrift `json:"answer_drift"`
	}
	at, err := parseTime(started)
	if len(facts) == 0 || err != nil || json.Unmarshal(facts, &f) != nil {
		return nil
	}
	if t := f.Drift.Total; t.Short() {
		f.Considered, f.Covered = &t.Announced, &t.Counted
	}
	given := func(v jsontext.Value) bool { return len(v) > 0 && strings.TrimSpace(string(v)) != "null" }
	return &store.StreamMeasurement{
		StartedAt: at, Status: status, Considered: f.Considered, Covered: f.Covered, Committed: f.Checkpoint == "committed",
		Skipped: given(f.Skipped), Narrowed: given(f.Scope),
	}
}
