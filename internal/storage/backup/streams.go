package backup

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/internal/storage/rowsum"
)

// StreamSum is how many records a stream has, with its earlier versions, and a hash of all of them.
type StreamSum struct {
	Connection string `json:"connection_id"`
	Stream     string `json:"stream"`
	Rows       int64  `json:"rows"`
	Hash       string `json:"hash"`
}

const recordRows = `SELECT s.connection_id, s.name, r.record_key, r.data, r.emitted_at, r.semantic_time, r.seq,
	r.version, r.changed_at, r.run_no FROM records r JOIN streams s ON s.stream_id = r.stream_id`

const historyRows = `SELECT s.connection_id, s.name, r.record_key, h.data, h.emitted_at, h.semantic_time, h.seq,
	h.version, h.changed_at, h.run_no FROM record_history h JOIN records r ON r.id = h.record_id
	JOIN streams s ON s.stream_id = r.stream_id`

// sumStreams counts and hashes the records of every stream of a database.
func sumStreams(ctx context.Context, path string) (all []StreamSum, err error) {
	db, err := openReadOnly(path, 10_000)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	sums := map[[2]string]*rowsum.Sum{}
	for _, query := range []string{recordRows, historyRows} {
		if err := sumRows(ctx, db, query, sums); err != nil {
			return nil, fmt.Errorf("count the records of each stream: %w", err)
		}
	}
	for of, sum := range sums {
		all = append(all, StreamSum{of[0], of[1], sum.Rows, sum.Hash()})
	}
	slices.SortFunc(all, func(a, b StreamSum) int {
		return strings.Compare(a.Connection+"\x00"+a.Stream, b.Connection+"\x00"+b.Stream)
	})
	return all, nil
}

func sumRows(ctx context.Context, db *sql.DB, query string, sums map[[2]string]*rowsum.Sum) error {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		of := [2]string{fmt.Sprint(values[0]), fmt.Sprint(values[1])}
		if sums[of] == nil {
			sums[of] = &rowsum.Sum{}
		}
		if err := sums[of].Add(values[2:]); err != nil {
			return err
		}
	}
	return rows.Err()
}
