package mirror

import (
	"context"
	"fmt"
	"strings"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/export"
)

// viewsFile creates a view for each stream in DuckDB.
const viewsFile = "mirror.sql"

const jsonColumns = `columns={connection_id: 'VARCHAR', stream: 'VARCHAR', id: 'VARCHAR', data: 'JSON',
  emitted_at: 'TIMESTAMP', changed_at: 'TIMESTAMP', change_seq: 'BIGINT', version: 'BIGINT', deleted: 'BOOLEAN'}`

// writeViews writes a view of the newest version of every record, without deleted ones.
func (m Mirror) writeViews(ctx context.Context, streams []api.Stream) error {
	var sql strings.Builder
	sql.WriteString("-- Run this in its folder: duckdb -init mirror.sql\n")
	if m.To.Prefix() != "" {
		sql.Reset()
		sql.WriteString("-- Create a secret for the bucket first: CREATE SECRET (TYPE s3, KEY_ID '...', SECRET '...');\n")
	}
	for i := range streams {
		s := &streams[i]
		if !m.memory.streams[export.StreamPath(s)].parts {
			continue
		}
		files := "'" + strings.ReplaceAll(m.To.Prefix(), "'", "''") + export.StreamPath(s) + "/*" + m.Format.Suffix + "'"
		read, key, seq, deleted := "read_parquet("+files+", union_by_name=true)", "_key", "_change_seq", "_deleted"
		if m.Format.Name == "jsonl" {
			read = "read_json(" + files + ", format='newline_delimited', maximum_object_size=268435456, " + jsonColumns + ")"
			key, seq, deleted = "id", "change_seq", "deleted"
		}
		fmt.Fprintf(&sql, "\nCREATE OR REPLACE VIEW %s AS\nSELECT * EXCLUDE (newest_first) FROM (\n  SELECT *, "+
			"row_number() OVER (PARTITION BY %s ORDER BY %s DESC) AS newest_first\n  FROM %s\n"+
			") WHERE newest_first = 1 AND NOT %s;\n", quotedName(s), key, seq, read, deleted)
	}
	if m.memory.views == sql.String() {
		return nil
	}
	if err := m.create(ctx, viewsFile, sql.String()); err != nil {
		return err
	}
	m.memory.views = sql.String()
	return nil
}

// quotedName is the name of a view: the connection and the stream.
func quotedName(s *api.Stream) string {
	return `"` + strings.ReplaceAll(s.ConnectionID+"."+s.Name, `"`, `""`) + `"`
}
