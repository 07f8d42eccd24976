package sqlite

import (
	"context"
	"errors"
	"testing"
	"time"

	"pdpp/internal/keep/store"
	"pdpp/internal/keep/store/sqlstore"
)

// An index that would keep writers waiting for too long is given up, and leaves nothing.
func TestIndexThatTakesTooLong(t *testing.T) {
	t.Parallel()
	s := openFor(t, newPath(t), Options{})
	writer := s.(*sqlstore.DB).Writer()
	// Each row takes long enough for the time to be over while the index is made.
	_, err := writer.ExecContext(t.Context(), `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
		INSERT INTO records (stream_id, record_key, data, emitted_at, semantic_time, seq, version, changed_at, run_no)
		SELECT 1, i, json_object('v', printf('%.20000c', 'x')), 'x', '', i, 1, 'x', 1 FROM n`)
	if err != nil {
		t.Fatal(err)
	}
	make := func(sqlstore.Querier) (sqlstore.IndexChange, error) {
		return sqlstore.IndexChange{Make: "slow", Expression: "record_text(data, 'v')", Where: "stream_id = 1 AND deleted = 0"}, nil
	}
	d := &dialect{patience: time.Minute, build: time.Millisecond}
	if changed, err := d.ChangeIndex(t.Context(), writer, make); changed || !errors.Is(err, store.ErrTooLong) {
		t.Fatalf("changed %v: %v", changed, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.ChangeIndex(ended, writer, make); errors.Is(err, store.ErrTooLong) || err == nil {
		t.Errorf("the end of the process is %v", err)
	}
	d.build = time.Minute
	if changed, err := d.ChangeIndex(t.Context(), writer, make); !changed || err != nil {
		t.Errorf("changed %v: %v", changed, err)
	}
}
