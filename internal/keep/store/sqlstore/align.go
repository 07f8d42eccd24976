package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// alignRows bounds the rows whose time one transaction rewrites.
const alignRows = 1000

// redeclare gives the streams of a connector's connections what its newest manifest says
// of them. Rows that are stored count as out of line from here on, for Align to see to.
func (t *tx) redeclare(connectorID string, body []byte) error {
	m, err := manifest.Parse(body)
	if err != nil {
		return nil // it declares nothing that anything could be out of line with
	}
	for i := range m.Streams {
		spec := specOf(&m.Streams[i])
		fields, err := jsonStrings(spec.SearchFields)
		if err != nil {
			return err
		}
		const differing = ` name = ? AND (search_fields <> ? OR time_field <> ?)
			AND connection_id IN (SELECT connection_id FROM connections WHERE connector_id = ?)`
		differs := []any{spec.Name, fields, spec.TimeField, connectorID}
		// A commit holds the lease before it takes a stream, and so does this.
		err = t.lock(`SELECT 1 FROM run_leases WHERE connection_id IN (SELECT connection_id FROM streams WHERE`+differing+`) ORDER BY connection_id`, differs...)
		if err != nil {
			return err
		}
		_, err = t.exec(`UPDATE streams SET search_seq = CASE WHEN search_fields = ? THEN search_seq ELSE 0 END, search_fields = ?,
			time_seq = CASE WHEN time_field = ? THEN time_seq ELSE 0 END, time_field = ? WHERE`+differing,
			append([]any{fields, fields, spec.TimeField, spec.TimeField}, differs...)...)
		if err != nil {
			return fmt.Errorf("declare stream %s: %w", spec.Name, err)
		}
	}
	return nil
}

func specOf(s *manifest.Stream) store.StreamSpec {
	return store.StreamSpec{Name: s.Name, TimeField: s.ConsentTimeField, SearchFields: s.Query.SearchFields()}
}

// outOfLine is a condition that rows of a stream do not yet agree with what it declares.
const outOfLine = `(s.time_seq < s.last_seq OR s.count_seq < s.last_seq OR s.search_seq < s.last_seq AND s.search_fields <> '[]')`

// Align takes one stream that no run holds: a run that began under an earlier declaration
// goes on writing by it.
func (db *DB) Align(ctx context.Context) (done bool, err error) {
	var id int64
	var connectionID string
	err = db.row(ctx, `SELECT s.stream_id, s.connection_id FROM streams s WHERE `+outOfLine+`
		AND NOT EXISTS (SELECT 1 FROM run_leases l WHERE l.connection_id = s.connection_id AND l.run_id IS NOT NULL)
		ORDER BY s.stream_id LIMIT 1`).Scan(&id, &connectionID)
	if errors.Is(err, sql.ErrNoRows) {
		return true, nil
	}
	if err != nil {
		return false, db.dialect.Classify(err)
	}
	return false, db.write(ctx, func(tx *tx) error {
		var held sql.NullString
		err := tx.row(`SELECT run_id FROM run_leases WHERE connection_id = ?`+db.dialect.ForUpdate(), connectionID).Scan(&held)
		if err != nil || held.Valid {
			return err
		}
		s, err := tx.scanStream(tx.row(`SELECT `+streamColumns+` FROM streams WHERE stream_id = ?`+db.dialect.ForUpdate(), id))
		if err != nil {
			return err
		}
		tx.indexLater(s, s.lastSeq, false)
		if err := tx.alignTimes(s); err != nil {
			return fmt.Errorf("rewrite semantic times: %w", err)
		}
		if err := tx.countUpTo(s, countRows); err != nil {
			return fmt.Errorf("count records: %w", err)
		}
		return nil
	})
}

// alignTimes rewrites the semantic time of the rows that follow those that agree. Of a
// tombstone it is that of the version before, by which it counts.
func (t *tx) alignTimes(s stream) error {
	if s.timeSeq >= s.lastSeq {
		return nil
	}
	var live, buried [][]any // id, version and time
	last, rows := s.timeSeq, 0
	moved := tally{}
	data, dataArgs, err := picked(t.db.dialect, "r.data", []string{s.timeField})
	if err != nil {
		return err
	}
	had, hadArgs, err := picked(t.db.dialect, "o.data", []string{s.timeField})
	if err != nil {
		return err
	}
	args := append(append(dataArgs, hadArgs...), s.id, s.timeSeq, alignRows)
	err = eachRow(t.ctx, t.db, t.Tx, `SELECT r.id, r.seq, r.version, r.semantic_time, coalesce(o.semantic_time, ''), coalesce(octet_length(r.data), 0), `+data+`, `+had+`
		FROM records r`+before+`WHERE r.stream_id = ? AND r.seq > ? ORDER BY r.seq LIMIT ?`, args, func(row scanner) (bool, error) {
		var id, version, bytes int64
		var at, was string
		var now, earlier jsontext.Value
		if err := row.Scan(&id, &last, &version, &at, &was, &bytes, intoJSON(&now), intoJSON(&earlier)); err != nil {
			return false, err
		}
		rows++
		if meant := timeIn(now, s.timeField); now != nil && meant != at {
			live = append(live, []any{id, version, meant})
			if last <= s.countSeq {
				moved.add(at, -1, -bytes)
				moved.add(meant, 1, bytes)
			}
		}
		if meant := timeIn(earlier, s.timeField); earlier != nil && meant != was {
			buried = append(buried, []any{id, version - 1, meant})
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	if rows < alignRows {
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

// timeIn gives the semantic time of a record as it is kept, or nothing.
func timeIn(data jsontext.Value, field string) (stored string) {
	if field == "" {
		return ""
	}
	EachField(data, func(name string) bool { return name == field }, func(_ string, kind jsontext.Kind, text string) {
		stored = ""
		if kind == '"' || kind == '0' {
			_, stored, _ = protocol.SemanticTime(text)
		}
	})
	return stored
}

// rewriteTimes sets the semantic time of rows, each named by its id and version. It is no
// change of the record: nothing is added to its history.
func (t *tx) rewriteTimes(table, id string, rows [][]any) error {
	if len(rows) == 0 {
		return nil
	}
	list, err := json.Marshal(rows)
	if err != nil {
		return err
	}
	return t.quietly(func() error {
		_, err := t.exec(`UPDATE `+table+` SET semantic_time = e.meant FROM (SELECT CAST(v.value ->> 0 AS bigint) AS id,
				CAST(v.value ->> 1 AS bigint) AS version, v.value ->> 2 AS meant FROM `+t.db.dialect.Elements()+` AS v) AS e
			WHERE `+table+`.`+id+` = e.id AND `+table+`.version = e.version`, string(list))
		return err
	})
}

// quietly changes records beside their data, without an entry in their history.
func (t *tx) quietly(change func() error) error {
	begin, end := t.db.dialect.Quietly(), t.db.dialect.Loudly()
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
