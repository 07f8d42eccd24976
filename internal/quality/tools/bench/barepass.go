package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore"
)

// bareSQL is a pass as statements and nothing around them: find, take, put off,
// and put into the queue.
type bareSQL struct {
	find, take, put, queue string
	list                   func(ids []string) string // as take's list of ids
}

var bareSQLite = bareSQL{
	find: `SELECT connection_id FROM connections WHERE look_at <= ? AND status NOT IN ('revoked', 'draft') ORDER BY ` +
		`look_at, connection_id LIMIT ?`,
	take: `UPDATE connections SET look_at = ? WHERE connection_id IN (SELECT value FROM json_each(?)) RETURNING ` +
		`connection_id, touches`,
	put: `UPDATE connections SET look_at = l.look_at
		FROM (SELECT e.value ->> 0 AS id, e.value ->> 1 AS look_at FROM json_each(?) AS e) AS l
		WHERE connections.connection_id = l.id`,
	queue: `INSERT INTO river_job (args, kind, max_attempts, priority, queue, unique_key, unique_states)
		SELECT json_object('connection_id', e.value ->> 0, 'connector_id', 'example'), 'run', 1, 2, 'network',
		CAST(e.value ->> 0 AS blob), 241
		FROM json_each(?) AS e WHERE true ON CONFLICT DO NOTHING RETURNING id`,
	list: func(ids []string) string { return `["` + strings.Join(ids, `","`) + `"]` },
}

var barePostgres = bareSQL{
	find: `SELECT connection_id FROM connections WHERE look_at <= $1 AND status NOT IN ('revoked', 'draft') ORDER BY ` +
		`look_at, connection_id LIMIT $2`,
	take: `UPDATE connections SET look_at = $1 WHERE connection_id = ANY (CAST($2 AS text[])) RETURNING connection_id,` +
		` touches`,
	put: `UPDATE connections SET look_at = l.look_at
		FROM (SELECT e.value ->> 0 AS id, e.value ->> 1 AS look_at FROM json_array_elements(CAST($1 AS json)) AS e) AS l
		WHERE connections.connection_id = l.id`,
	queue: `INSERT INTO river_job (args, kind, max_attempts, priority, queue, unique_key, unique_states)
		SELECT json_build_object('connection_id', e.value ->> 0, 'connector_id', 'example'), 'run', 1, 2, 'network',
		convert_to(e.value ->> 0, 'UTF8'), B'10101111'
		FROM json_array_elements(CAST($1 AS json)) AS e ON CONFLICT DO NOTHING RETURNING id`,
	list: func(ids []string) string { return "{" + strings.Join(ids, ",") + "}" },
}

// barely runs a scheduler pass with bare SQL statements. If whole is set, it includes the evidence
// reads and the queue, as the scheduler does. Otherwise it only finds and claims due connections.
func (p *passer) barely(ctx context.Context, whole bool) (time.Duration, error) {
	begin := time.Now()
	for found := 0; found < dueInPass; {
		ids, err := p.strings(ctx, p.bare.find, p.now.Format(sqlstore.TimeLayout), lookPage)
		if err != nil {
			return 0, err
		}
		if found += len(ids); len(ids) == 0 {
			return 0, fmt.Errorf("%d connections are due, want %d", found, dueInPass)
		}
		if _, err := p.strings(ctx, p.bare.take, p.now.Add(20*time.Second).Format(sqlstore.TimeLayout),
			p.bare.list(ids)); err != nil {
			return 0, err
		}
		rows := make([][2]string, len(ids))
		for i, id := range ids {
			rows[i] = [2]string{id, p.now.Add(time.Hour).Format(sqlstore.TimeLayout)}
		}
		body, err := json.Marshal(rows)
		if err != nil {
			return 0, err
		}
		if whole {
			if _, err := p.st.ReadEvidenceBare(ctx, evidence.Query{ConnectionIDs: ids}); err != nil {
				return 0, err
			}
			if _, err := p.strings(ctx, p.bare.queue, string(body)); err != nil {
				return 0, err
			}
		}
		if _, err := p.st.Writer().ExecContext(ctx, p.bare.put, string(body)); err != nil {
			return 0, err
		}
	}
	return time.Since(begin), nil
}

// strings returns the first column of the query's rows.
func (p *passer) strings(ctx context.Context, query string, args ...any) (out []string, err error) {
	rows, err := p.st.Writer().QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	into := make([]any, len(columns))
	for rows.Next() {
		var value string
		into[0] = &value
		for i := range into[1:] {
			into[1+i] = new(any)
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		out = append(out, value)
	}
	return out, rows.Err()
}
