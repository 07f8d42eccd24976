package sqlite

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"pdpp/internal/keep/store"
	"pdpp/internal/keep/store/sqlstore"
	"pdpp/internal/slice"
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
		return sqlstore.IndexChange{Make: "slow", Columns: "record_text(data, 'v')", Where: "stream_id = 1 AND deleted = 0"}, nil
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

// Another process tells which index was given up and when, until it is made after all.
func TestIndexThatWasGivenUpIsToldOf(t *testing.T) {
	t.Parallel()
	ctx, now := t.Context(), time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	path := newPath(t)
	s := openFor(t, path, Options{})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.PutManifest(ctx, "example", []byte(`{"protocol_version":"0.1.0","connector_id":"example","version":"1.0.0","display_name":"Example","streams":[
		{"name":"items","semantics":"mutable_state","primary_key":"id","query":{"filter":["v"]},"schema":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"v":{"type":"string"}}}}]}`), now)
	must(err)
	must(s.CreateConnection(ctx, store.Connection{ID: "c", ConnectorID: "example", DisplayName: "Garden", Status: store.ConnectionActive, SourceKind: store.SourceAccount, CreatedAt: now, UpdatedAt: now}))
	l, err := s.StartRun(ctx, store.RunStart{RunID: "r", ConnectionID: "c", ConnectorID: "example", Trigger: store.TriggerManual, Holder: "test", TTL: time.Hour, Streams: []store.StreamSpec{{Name: "items"}}}, now)
	must(err)
	var records []slice.Record
	for i := range 200 {
		records = append(records, slice.Record{Stream: "items", Key: fmt.Sprint(i), EmittedAt: "x", Data: fmt.Appendf(nil, `{"id":"%d","v":"%020000d"}`, i, i)})
	}
	_, err = s.CommitSlice(ctx, l, slice.Slice{Records: records}, now)
	must(err)
	must(s.FinishRun(ctx, l, store.RunOutcome{Status: store.RunSucceeded, Event: slice.Event{Type: "run.completed"}}, now))

	pool := s.(*sqlstore.DB)
	hasty := sqlstore.New(sqlstore.Config{Writer: pool.Writer(), Reader: pool.Clients(), Clients: pool.Clients(), Dialect: &dialect{where: path, patience: time.Minute, build: time.Nanosecond}})
	if done, err := hasty.IndexFields(ctx, 1, now); done || !errors.Is(err, store.ErrTooLong) {
		t.Fatalf("done %v: %v", done, err)
	}
	for _, again := range []struct {
		after time.Duration
		tried bool
	}{{0, false}, {time.Minute - 1, false}, {time.Minute, true}, {2 * time.Minute, false}, {3 * time.Minute, true}, {6 * time.Minute, false}} {
		if _, err := hasty.IndexFields(ctx, 1, now.Add(again.after)); errors.Is(err, store.ErrTooLong) != again.tried || err != nil && !again.tried {
			t.Fatalf("tried again after %v: %v", again.after, err)
		}
	}
	state := func() store.FieldIndex {
		t.Helper()
		u, err := s.Upkeep(ctx, 1)
		must(err)
		if len(u.Indexes) != 2 {
			t.Fatalf("indexes %+v", u.Indexes)
		}
		return u.Indexes[1]
	}
	if got := state(); got.Field != "v" || got.Connection != "Garden" || got.State != store.IndexGivenUp || got.GivenUp == nil || !got.GivenUp.Equal(now.Add(3*time.Minute)) {
		t.Errorf("given up: %+v", got)
	}
	if done, err := s.IndexFields(ctx, 1, now); done || err != nil {
		t.Fatalf("done %v: %v", done, err)
	}
	if got := state(); got.State != store.IndexReady || got.GivenUp != nil {
		t.Errorf("made after all: %+v", got)
	}
	var marks int
	must(pool.Writer().QueryRowContext(ctx, `SELECT count(*) FROM settings WHERE name LIKE 'index given up: %'`).Scan(&marks))
	if marks != 0 {
		t.Errorf("%d marks are left", marks)
	}
}
