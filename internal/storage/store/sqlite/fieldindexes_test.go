package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/sqldialect"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore"
)

// TestIndexThatTakesTooLong checks that an index is abandoned without a trace when it would block writers for too
// long.
//
//pdpp:tier unraced
func TestIndexThatTakesTooLong(t *testing.T) {
	t.Parallel()
	s := openFor(t, newPath(t), Options{})
	writer := s.(*sqlstore.DB).Writer()
	// Each row is slow enough for the time limit to pass during the build.
	_, err := writer.ExecContext(t.Context(), `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n
		WHERE i < 2000)
		INSERT INTO records (stream_id, record_key, data, emitted_at, semantic_time, seq, version, changed_at, run_no)
		SELECT 1, i, json_object('v', printf('%.20000c', 'x')), 'x', '', i, 1, 'x', 1 FROM n`)
	if err != nil {
		t.Fatal(err)
	}
	make := func(sqldialect.Querier) (sqldialect.IndexChange, error) {
		return sqldialect.IndexChange{Make: "slow", Columns: "record_text(data, 'v')",
				Where: "stream_id = 1 AND deleted = 0"},
			nil
	}
	d := &dialect{busyTimeout: time.Minute, maxBuildTime: time.Millisecond}
	if changed, err := d.ChangeIndex(t.Context(), writer, make); changed || !errors.Is(err, store.ErrTooLong) {
		t.Fatalf("changed %v: %v", changed, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.ChangeIndex(ended, writer, make); errors.Is(err, store.ErrTooLong) || err == nil {
		t.Errorf("the end of the process is %v", err)
	}
	d.maxBuildTime = time.Minute
	if changed, err := d.ChangeIndex(t.Context(), writer, make); !changed || err != nil {
		t.Errorf("changed %v: %v", changed, err)
	}
}

// TestIndexProgressIsReported checks that other processes see the progress of an index, and that it continues while a
// run fills its stream.
func TestIndexProgressIsReported(t *testing.T) {
	t.Parallel()
	ctx, path := t.Context(), newPath(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	g, err := openGrowing(ctx, path, 50)
	must(err)
	defer g.Close()
	must(g.declare(ctx))
	var records []slice.Record
	for i := range 200 {
		records = append(records, slice.Record{Stream: "items", Key: fmt.Sprint(i), EmittedAt: "x",
			Data: fmt.Appendf(nil, `{"id":"%d","v":"%d"}`, i, i)})
	}
	must(g.commit(ctx, "first", records, func() error { return nil }))
	other := openFor(t, path, Options{})
	percents := func() (all []int64) {
		t.Helper()
		u, err := other.Upkeep(ctx, 1)
		must(err)
		for _, i := range u.Indexes {
			switch {
			case i.State == store.IndexBuilding && i.Percent != nil:
				all = append(all, *i.Percent)
			case i.State == store.IndexReady && i.Field != "":
				all = append(all, 100)
			}
		}
		return all
	}
	for _, want := range [][]int64{{25}, {50}, {75}} {
		done, err := g.IndexFields(ctx, 1, indexedAt)
		must(err)
		if got := percents(); done || !slices.Equal(got, want) {
			t.Fatalf("done %v: %v instead of %v", done, got, want)
		}
	}
	must(g.commit(ctx, "second", nil, func() error {
		_, err := g.IndexFields(ctx, 1, indexedAt)
		return errors.Join(err, func() error {
			_, err := g.IndexFields(ctx, 1, indexedAt)
			return err
		}())
	}))
	if got := percents(); !slices.Equal(got, []int64{100}) {
		t.Errorf("the others began beside a run, or the first did not end: %v", got)
	}
}

// TestTableReplacesOldIndex checks that a table replaces an index that an earlier version made on the records.
func TestTableReplacesOldIndex(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	g, err := openGrowing(ctx, newPath(t), 50)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	err = errors.Join(g.declare(ctx), g.commit(ctx, "first", drawRecords(rand.New(rand.NewPCG(1, 1)), 100, 50),
		func() error { return nil }))
	if err != nil {
		t.Fatal(err)
	}
	steps := func() (n int) {
		for done := false; ; n++ {
			if done, err = g.IndexFields(ctx, 1, indexedAt); err != nil {
				t.Fatal(err)
			}
			if done {
				return n
			}
		}
	}
	steps()
	var name string
	if err := g.Writer().QueryRowContext(ctx,
		`SELECT min(name) FROM sqlite_schema WHERE type = 'table' AND name LIKE 'records_field_%'`).Scan(&name); err != nil {
		t.Fatal(err)
	}
	_, err = g.Writer().ExecContext(ctx,
		`DROP VIEW `+name+`_source; DROP TABLE `+name+`; CREATE INDEX `+name+` ON records (record_text(data, 'v'), seq)
			WHERE stream_id = 1 AND deleted = 0`)
	if err != nil {
		t.Fatal(err)
	}
	g.answers(t)
	if n := steps(); n < 2 {
		t.Errorf("%d steps: the index stayed", n)
	}
	if begun, whole := g.tables(t); begun != 0 || whole != 3 {
		t.Errorf("%d indexes are begun and %d whole in the end", begun, whole)
	}
	g.answers(t)
}

// TestAbandonedIndexIsReported checks that another process reports the abandoned time index until it is built with
// more time.
func TestAbandonedIndexIsReported(t *testing.T) {
	t.Parallel()
	ctx, now := t.Context(), indexedAt
	path := newPath(t)
	s := openFor(t, path, Options{})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	pool := s.(*sqlstore.DB)
	// A database from before the index existed.
	_, err := pool.Writer().ExecContext(ctx, `DROP INDEX records_by_time; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL
		SELECT i + 1 FROM n WHERE i < 2000)
		INSERT INTO records (stream_id, record_key, data, emitted_at, semantic_time, seq, version, changed_at, run_no)
		SELECT 1, i, '{}', 'x', '2026-01-02T03:04:05.000000Z', i, 1, 'x', 1 FROM n`)
	must(err)
	hasty := sqlstore.New(sqlstore.Config{Writer: pool.Writer(), Reader: pool.ClientReaders(),
		Clients: pool.ClientReaders(),
		Dialect: &dialect{where: path, busyTimeout: time.Minute, maxBuildTime: time.Nanosecond}})
	if done, err := hasty.IndexFields(ctx, 1, now); done || !errors.Is(err, store.ErrTooLong) {
		t.Fatalf("done %v: %v", done, err)
	}
	for _, after := range []time.Duration{0, time.Minute - 1} {
		if done, err := hasty.IndexFields(ctx, 1, now.Add(after)); !done || err != nil {
			t.Fatalf("tried again after %v: done %v: %v", after, done, err)
		}
	}
	state := func() store.FieldIndex {
		t.Helper()
		u, err := s.Upkeep(ctx, 1)
		must(err)
		if len(u.Indexes) != 1 {
			t.Fatalf("indexes %+v", u.Indexes)
		}
		return u.Indexes[0]
	}
	if got := state(); got.State != store.IndexAbandoned || got.GivenUp == nil || !got.GivenUp.Equal(now) {
		t.Errorf("given up: %+v", got)
	}
	if done, err := hasty.IndexFields(ctx, 1, now.Add(time.Minute)); done || err != nil {
		t.Fatalf("done %v: %v", done, err)
	}
	if got := state(); got.State != store.IndexReady || got.GivenUp != nil {
		t.Errorf("made after all: %+v", got)
	}
	var marks int
	must(pool.Writer().QueryRowContext(ctx,
		`SELECT count(*) FROM settings WHERE name LIKE 'index given up: %'`).Scan(&marks))
	if marks != 0 {
		t.Errorf("%d marks are left", marks)
	}
}
