package miniflux

import (
	"context"
	"encoding/json"

	"github.com/jackc/pgx/v5"
)

// What a person has, in the form that a collection of ours has. The statements know nothing of
// how the server answers requests.
var truthStatements = map[string]string{
	"categories": `SELECT id::text, jsonb_build_object('id', id::text, 'title', title, 'hidden', hide_globally) FROM ` +
		`categories WHERE user_id = $1`,
	"feeds": `SELECT id::text, jsonb_strip_nulls(jsonb_build_object('id', id::text, 'title', title, 'description',
		nullif(description, ''), 'feed_url', feed_url,
		'site_url', nullif(site_url, ''), 'category_id', category_id::text, 'disabled', disabled, 'hidden',
		hide_globally)) FROM feeds WHERE user_id = $1`,
	"entries": `SELECT e.id::text, jsonb_strip_nulls(jsonb_build_object('id', e.id::text, 'feed_id', e.feed_id::text,
		'title', e.title, 'url', e.url,
		'comments_url', nullif(e.comments_url, ''), 'author', nullif(e.author, ''), 'content', nullif(e.content, ''),
		'published_at', ` + utcTimeSQL("e.published_at") + `, 'created_at', ` + utcTimeSQL("e.created_at") + `, 'changed_at',
			` + utcTimeSQL("e.changed_at") + `,
		'status', e.status, 'starred', e.starred, 'reading_minutes', nullif(e.reading_time, 0),
		'tags', CASE WHEN cardinality(e.tags) > 0 THEN to_jsonb(e.tags) END,
		'enclosures', (SELECT jsonb_agg(jsonb_strip_nulls(jsonb_build_object('url', c.url, 'mime_type',
		nullif(c.mime_type, ''), 'size_bytes', nullif(c.size, 0),
			'position_seconds', nullif(c.media_progression, 0))) ORDER BY c.id) FROM enclosures c WHERE c.entry_id = e.id)))
		FROM entries e WHERE e.user_id = $1`,
}

// utcTimeSQL spells a time in UTC, without the zeros at its end.
func utcTimeSQL(column string) string {
	return `regexp_replace(to_char(` + column + ` AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'), '\.?0*$', '') || 'Z'`
}

// Tables are what the account has, by stream and key.
func (a *Account) Tables(ctx context.Context) (map[string]map[string]json.RawMessage, error) {
	c, err := pgx.Connect(ctx, a.server.database)
	if err != nil {
		return nil, err
	}
	defer c.Close(ctx)
	all := map[string]map[string]json.RawMessage{}
	for stream, statement := range truthStatements {
		all[stream] = map[string]json.RawMessage{}
		rows, err := c.Query(ctx, statement, a.id)
		if err != nil {
			return nil, err
		}
		for rows.Next() {
			var key string
			var data []byte
			if err := rows.Scan(&key, &data); err != nil {
				return nil, err
			}
			all[stream][key] = data
		}
		if err := rows.Err(); err != nil {
			return nil, err
		}
	}
	return all, nil
}
