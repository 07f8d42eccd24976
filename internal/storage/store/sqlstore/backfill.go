package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/recordfields"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// backfillRowLimit is how many rows one transaction updates.
const backfillRowLimit = 1000

// updateStreamSpecs writes the newest declaration to the streams of a connector's connections. BackfillDerived
// updates their stored rows later.
func (t *tx) updateStreamSpecs(connectorID string, body []byte) error {
	m, err := manifest.Parse(body)
	if err != nil {
		return nil // an unreadable manifest declares nothing
	}
	for i := range m.Streams {
		spec := streamSpecOf(&m.Streams[i])
		fields, err := jsonStrings(spec.SearchFields)
		if err != nil {
			return err
		}
		const differing = ` name = ? AND (search_fields <> ? OR time_field <> ?)
			AND connection_id IN (SELECT connection_id FROM connections WHERE connector_id = ?)`
		differs := []any{spec.Name, fields, spec.TimeField, connectorID}
		// A commit locks the lease before the stream; this does the same.
		err = t.lockRows(`SELECT 1 FROM run_leases WHERE connection_id IN (SELECT connection_id FROM streams
			WHERE`+differing+`) ORDER BY connection_id`, differs...)
		if err != nil {
			return err
		}
		_, err = t.exec(`UPDATE streams SET search_seq = CASE WHEN search_fields = ? THEN search_seq
			ELSE 0 END, search_fields = ?,
			time_seq = CASE WHEN time_field = ? THEN time_seq ELSE 0 END, time_field = ? WHERE`+differing,
			append([]any{fields, fields, spec.TimeField, spec.TimeField}, differs...)...)
		if err != nil {
			return fmt.Errorf("declare stream %s: %w", spec.Name, err)
		}
	}
	return nil
}

func streamSpecOf(s *manifest.Stream) store.StreamSpec {
	return store.StreamSpec{Name: s.Name, TimeField: s.ConsentTimeField, SearchFields: s.Query.SearchFields()}
}

// needsBackfill is the condition that rows of a stream do not match its declaration yet.
const needsBackfill = `(s.time_seq < s.last_seq OR s.count_seq < s.last_seq OR s.search_seq < s.last_seq
	AND s.search_fields <> '[]')`

// BackfillDerived picks a stream without an active run, because a run that started under an earlier declaration
// continues to write by it.
func (db *DB) BackfillDerived(ctx context.Context) (done bool, err error) {
	var id int64
	var connectionID string
	err = db.row(ctx, `SELECT s.stream_id, s.connection_id FROM streams s WHERE `+needsBackfill+`
		AND NOT EXISTS (SELECT 1 FROM run_leases l WHERE l.connection_id = s.connection_id AND l.run_id IS NOT NULL)
		ORDER BY s.stream_id LIMIT 1`).Scan(&id, &connectionID)
	if errors.Is(err, sql.ErrNoRows) {
		return true, nil
	}
	if err != nil {
		return false, db.dialect.ClassifyError(err)
	}
	return false, db.write(ctx, func(tx *tx) error {
		var held sql.NullString
		err := tx.row(`SELECT run_id FROM run_leases WHERE connection_id = ?`+db.dialect.ForUpdate(),
			connectionID).Scan(&held)
		if err != nil || held.Valid {
			return err
		}
		s, err := tx.scanStream(tx.row(`SELECT `+streamColumns+` FROM streams WHERE stream_id = ?`+db.dialect.ForUpdate(),
			id))
		if err != nil {
			return err
		}
		tx.queueForIndexing(s, s.lastSeq, false)
		if err := tx.backfillTimes(s); err != nil {
			return fmt.Errorf("rewrite semantic times: %w", err)
		}
		if err := tx.countPending(s, countRowLimit); err != nil {
			return fmt.Errorf("count records: %w", err)
		}
		return nil
	})
}

// backfillTimes updates the semantic time of the next rows. For a tombstone, it updates the time of its last version.
func (t *tx) backfillTimes(s streamRow) error {
	if s.timeSeq >= s.lastSeq {
		return nil
	}
	var live, buried [][]any // id, version and time
	last, rows := s.timeSeq, 0
	moved := dayTally{}
	data, dataArgs, err := pickExpression(t.db.dialect, "r.data", []string{s.timeField})
	if err != nil {
		return err
	}
	had, hadArgs, err := pickExpression(t.db.dialect, "o.data", []string{s.timeField})
	if err != nil {
		return err
	}
	args := append(append(dataArgs, hadArgs...), s.id, s.timeSeq, backfillRowLimit)
	err = eachRow(t.ctx, t.db, t.Tx, `SELECT r.id, r.seq, r.version, r.semantic_time, coalesce(o.semantic_time, ''),
		coalesce(octet_length(r.data), 0), `+data+`, `+had+`
		FROM records r`+joinLastVersion+`WHERE r.stream_id = ? AND r.seq > ? ORDER BY r.seq LIMIT ?`,
		args, func(row scanner) (bool, error) {
			var id, version, bytes int64
			var at, was string
			var now, earlier jsontext.Value
			if err := row.Scan(&id, &last, &version, &at, &was, &bytes, intoJSON(&now), intoJSON(&earlier)); err != nil {
				return false, err
			}
			rows++
			if meant := semanticTimeIn(now, s.timeField); now != nil && meant != at {
				live = append(live, []any{id, version, meant})
				if last <= s.countSeq {
					moved.add(at, -1, -bytes)
					moved.add(meant, 1, bytes)
				}
			}
			if meant := semanticTimeIn(earlier, s.timeField); earlier != nil && meant != was {
				buried = append(buried, []any{id, version - 1, meant})
			}
			return true, nil
		})
	if err != nil {
		return err
	}
	if rows < backfillRowLimit {
		last = s.lastSeq
	}
	if err := t.rewriteTimes("records", "id", live); err != nil {
		return err
	}
	if err := t.rewriteTimes("record_history", "record_id", buried); err != nil {
		return err
	}
	if err := t.addCounts(s, moved); err != nil {
		return err
	}
	_, err = t.exec(`UPDATE streams SET time_seq = ? WHERE stream_id = ?`, last, s.id)
	return err
}

// semanticTimeIn returns the semantic time of a record as it is stored, or "".
func semanticTimeIn(data jsontext.Value, field string) (stored string) {
	if field == "" {
		return ""
	}
	recordfields.EachField(data, func(name string) bool { return name == field },
		func(_ string, kind jsontext.Kind, text string) {
			stored = ""
			if kind == '"' || kind == '0' {
				_, stored, _ = protocol.SemanticTime(text)
			}
		})
	return stored
}

// rewriteTimes sets the semantic time of rows, identified by id and version, without an entry in their history.
func (t *tx) rewriteTimes(table, id string, rows [][]any) error {
	if len(rows) == 0 {
		return nil
	}
	list, err := json.Marshal(rows)
	if err != nil {
		return err
	}
	return t.withoutHistory(func() error {
		_, err := t.exec(`UPDATE `+table+` SET semantic_time = e.meant FROM (SELECT CAST(v.value ->> 0 AS bigint) AS id,
				CAST(v.value ->> 1 AS bigint) AS version, v.value ->> 2 AS meant FROM `+t.db.dialect.ArrayTable()+` AS v) AS e
			WHERE `+table+`.`+id+` = e.id AND `+table+`.version = e.version`, string(list))
		return err
	})
}

// withoutHistory runs a change that adds no entry to the history of records.
func (t *tx) withoutHistory(change func() error) error {
	begin, end := t.db.dialect.HistoryOff(), t.db.dialect.HistoryOn()
	if begin != "" {
		if _, err := t.exec(begin); err != nil {
			return err
		}
	}
	if err := change(); err != nil || end == "" {
		return err
	}
	_, err := t.exec(end)
	return err
}
