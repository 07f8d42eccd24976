package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/pdpp-go/pdpp/internal/keep/store/sqlstore"
)

// rowsPerStatement bounds the message that carries one statement's records.
const rowsPerStatement = 2000

// dialect is PostgreSQL's part of the store.
type dialect struct {
	sqlstore.Numbered
	where string
}

// newDialect names the database by its place alone, never by its user or password.
func newDialect(c *pgx.ConnConfig) *dialect {
	return &dialect{where: fmt.Sprintf("%s/%s", net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port))), c.Database)}
}

// Begin needs no care: the server makes writers of one row wait in line.
func (d *dialect) Begin(ctx context.Context, writer *sql.DB) (*sql.Tx, error) {
	return writer.BeginTx(ctx, nil)
}

// ForUpdate lets others refer to the rows meanwhile: no key is ever changed.
func (d *dialect) ForUpdate() string { return " FOR NO KEY UPDATE" }

func (d *dialect) Snapshot() sql.IsolationLevel { return sql.LevelRepeatableRead }

func (d *dialect) Clock() string { return `SELECT clock_timestamp()` }

// upsertQuery writes records and counts those that changed and those of them that are new.
const upsertQuery = `WITH wrote AS (INSERT INTO records (stream_id, run_no, changed_at, seq, version, record_key, data, emitted_at, semantic_time)
	SELECT $1, $2, $3, $4 + u.n, 1, u.key, u.data, u.emitted_at, u.semantic_time
	FROM unnest($5::text[], $6::text[], $7::text[], $8::text[]) WITH ORDINALITY AS u (key, data, emitted_at, semantic_time, n)
	ON CONFLICT (stream_id, record_key) DO UPDATE SET data = excluded.data, emitted_at = excluded.emitted_at,
		semantic_time = excluded.semantic_time, seq = excluded.seq, version = records.version + 1,
		changed_at = excluded.changed_at, run_no = excluded.run_no
	WHERE records.data IS DISTINCT FROM excluded.data RETURNING version)
	SELECT count(*), count(*) FILTER (WHERE version = 1) FROM wrote`

func (d *dialect) UpsertRecords(ctx context.Context, tx *sql.Tx, b sqlstore.Batch) (done sqlstore.Upserted, err error) {
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
		err := tx.QueryRowContext(ctx, upsertQuery, b.StreamID, b.RunNo, b.ChangedAt, seq, keys, data, emitted, semantic).Scan(&changed, &added)
		if err != nil {
			return done, err
		}
		done.Changed += changed
		done.Added += added
		seq += int64(len(part))
	}
	return done, nil
}

func (d *dialect) Among(column string) string { return column + ` = ANY (CAST(? AS text[]))` }

// AmongKeys hides the list from the planner, which would otherwise plan anew for every list.
func (d *dialect) AmongKeys(column string) string {
	return column + ` = ANY (CAST((SELECT CAST(? AS text[])) AS text[]))`
}

// Elements names its column value by itself.
func (d *dialect) Elements() string { return `json_array_elements(CAST(? AS json))` }

func (d *dialect) List(values []string) (any, error) { return values, nil }

func (d *dialect) Texts() string { return `CAST(? AS text[])` }

// Quietly turns the trigger of the history off, at most for the rest of the transaction.
func (d *dialect) Quietly() string { return `SELECT set_config('pdpp.aligning', 'on', true)` }

func (d *dialect) Loudly() string { return `SELECT set_config('pdpp.aligning', 'off', true)` }

func (d *dialect) Verification() string { return "" }
