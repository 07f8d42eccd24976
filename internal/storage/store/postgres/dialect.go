package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"slices"
	"strconv"

	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/sqldialect"

	"github.com/jackc/pgx/v5"
)

// rowsPerStatement bounds the size of one statement's message.
const rowsPerStatement = 2000

// dialect implements sqldialect.Dialect for PostgreSQL.
type dialect struct {
	sqldialect.NumberPlaceholders
	where string
}

// newDialect names the database by host and name, never by user or password.
func newDialect(c *pgx.ConnConfig) *dialect {
	return &dialect{where: fmt.Sprintf("%s/%s", net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port))), c.Database)}
}

// BeginWrite is a plain BEGIN: the server queues writers of one row.
func (d *dialect) BeginWrite(ctx context.Context, writer *sql.DB) (*sql.Tx, error) {
	return writer.BeginTx(ctx, nil)
}

// ForUpdate allows others to reference the rows meanwhile: keys never change.
func (d *dialect) ForUpdate() string { return " FOR NO KEY UPDATE" }

func (d *dialect) SnapshotLevel() sql.IsolationLevel { return sql.LevelRepeatableRead }

func (d *dialect) ClockQuery() string { return `SELECT clock_timestamp()` }

// upsertQuery writes records and counts the changed and the new ones.
const upsertQuery = `WITH wrote AS (INSERT INTO records (stream_id, run_no, changed_at, seq, version, record_key, data,
	emitted_at, semantic_time)
	SELECT $1, $2, $3, $4 + u.n, 1, u.key, u.data, u.emitted_at, u.semantic_time
	FROM unnest($5::text[], $6::text[], $7::text[], $8::text[]) WITH ORDINALITY AS u (key, data, emitted_at,
		semantic_time, n)
	ON CONFLICT (stream_id, record_key) DO UPDATE SET data = excluded.data, emitted_at = excluded.emitted_at,
		semantic_time = excluded.semantic_time, seq = excluded.seq, version = records.version + 1,
		changed_at = excluded.changed_at, run_no = excluded.run_no
	WHERE records.data IS DISTINCT FROM excluded.data RETURNING version)
	SELECT count(*), count(*) FILTER (WHERE version = 1) FROM wrote`

func (d *dialect) UpsertRecords(
	ctx context.Context, tx *sql.Tx, b sqldialect.RecordBatch,
) (done sqldialect.UpsertCounts, err error) {
	size := min(len(b.Pick), rowsPerStatement)
	keys, data := make([]string, 0, size), make([][]byte, 0, size)
	emitted, semantic := make([]string, 0, size), make([]string, 0, size)
	seq := b.BaseSeq
	for part := range slices.Chunk(b.Pick, rowsPerStatement) {
		keys, data, emitted, semantic = keys[:0], data[:0], emitted[:0], semantic[:0]
		for _, i := range part {
			r := &b.Records[i]
			body := r.Data
			if r.Deleted() {
				body = nil
			} else if body == nil {
				body = []byte{}
			}
			keys, data = append(keys, r.Key), append(data, body)
			emitted, semantic = append(emitted, r.EmittedAt), append(semantic, r.SemanticTime)
		}
		var changed, added int64
		err := tx.QueryRowContext(ctx, upsertQuery, b.StreamID, b.RunNo, b.ChangedAt, seq, keys, data, emitted,
			semantic).Scan(&changed, &added)
		if err != nil {
			return done, err
		}
		done.Changed += changed
		done.Added += added
		seq += int64(len(part))
	}
	return done, nil
}

func (d *dialect) InList(column string) string { return column + ` = ANY (CAST(? AS text[]))` }

// InKeyList hides the list from the planner, which would otherwise plan again for every list.
func (d *dialect) InKeyList(column string) string {
	return column + ` = ANY (CAST((SELECT CAST(? AS text[])) AS text[]))`
}

// ArrayTable relies on the function's default column name, value.
func (d *dialect) ArrayTable() string { return `json_array_elements(CAST(? AS json))` }

func (d *dialect) ListArgument(values []string) (any, error) { return values, nil }

func (d *dialect) ListPlaceholder() string { return `CAST(? AS text[])` }

// HistoryOff turns the history trigger off, at most until the transaction ends.
func (d *dialect) HistoryOff() string { return `SELECT set_config('pdpp.aligning', 'on', true)` }

func (d *dialect) HistoryOn() string { return `SELECT set_config('pdpp.aligning', 'off', true)` }

func (d *dialect) IntegrityQuery() string { return "" }
