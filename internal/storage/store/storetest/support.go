package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// Now is the time at which tests begin. Stores read no clock, so it is an arbitrary date.
var Now = time.Date(2026, 3, 4, 5, 6, 7, 891_000_000, time.UTC)

// Stream is the stream that tests write to unless they need several.
const Stream = "items"

// ttl is the length of a lease in tests.
const ttl = time.Minute

// connect creates a connection.
func connect(t testing.TB, s store.Store, id string) {
	t.Helper()
	ok(t, s.CreateConnection(t.Context(), store.Connection{
		ID: id, ConnectorID: "example", DisplayName: "Example", Status: store.ConnectionActive,
		SourceKind: store.SourceAccount, CreatedAt: Now, UpdatedAt: Now,
	}))
}

// runStart returns the request of start.
func runStart(connection, run string, streams ...store.StreamSpec) store.RunStart {
	if len(streams) == 0 {
		streams = []store.StreamSpec{{Name: Stream}}
	}
	return store.RunStart{
		RunID: run, ConnectionID: connection, ConnectorID: "example", Trigger: store.TriggerManual,
		Holder: "test", TTL: ttl, Streams: streams,
	}
}

// start starts a run on a connection that exists.
func start(t testing.TB, s store.Store, connection, run string, at time.Time, streams ...store.StreamSpec) store.Lease {
	t.Helper()
	l, err := s.StartRun(t.Context(), runStart(connection, run, streams...), at)
	ok(t, err)
	return l
}

// begin creates a connection and starts a run on it.
func begin(t testing.TB, s store.Store, connection, run string, streams ...store.StreamSpec) store.Lease {
	t.Helper()
	connect(t, s, connection)
	return start(t, s, connection, run, Now, streams...)
}

// finish ends a run successfully.
func finish(t testing.TB, s store.Store, l store.Lease, at time.Time) {
	t.Helper()
	ok(t, s.FinishRun(t.Context(), l,
		store.RunOutcome{Status: store.RunSucceeded, Event: slice.Event{Type: "run.completed"}}, at))
}

// next ends a run successfully and starts another one on the same connection.
func next(t testing.TB, s store.Store, l store.Lease, run string, at time.Time) store.Lease {
	t.Helper()
	finish(t, s, l, at)
	return start(t, s, l.ConnectionID, run, at)
}

func commit(t testing.TB, s store.Store, l store.Lease, part slice.Slice, at time.Time) store.Committed {
	t.Helper()
	done, err := s.CommitSlice(t.Context(), l, part, at)
	ok(t, err)
	return done
}

// put commits records of Stream.
func put(t testing.TB, s store.Store, l store.Lease, records ...slice.Record) store.Committed {
	t.Helper()
	return commit(t, s, l, slice.Slice{Records: records}, Now)
}

// live returns a record of Stream with a JSON object of one member.
func live(key, value string) slice.Record {
	return slice.Record{Stream: Stream, Key: key, Data: fmt.Appendf(nil, `{"v":%q}`, value),
		EmittedAt: "2026-03-04T05:06:07Z"}
}

// tombstone returns the deletion of a record of Stream.
func tombstone(key string) slice.Record {
	return slice.Record{Stream: Stream, Key: key, Op: protocol.OpDelete, EmittedAt: "2026-03-04T05:06:08Z"}
}

// changes reads the whole change feed of Stream.
func changes(t testing.TB, s store.Store, connection string) []store.StoredRecord {
	t.Helper()
	all, err := s.Changes(t.Context(),
		store.RecordQuery{AccessFilter: store.AccessFilter{ConnectionID: connection, Stream: Stream}, Limit: 1 << 20})
	ok(t, err)
	return all
}

func record(t testing.TB, s store.Store, connection, key string) store.StoredRecord {
	t.Helper()
	r, err := s.Record(t.Context(), connection, Stream, key)
	ok(t, err)
	return r
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fails requires an error that matches target.
func fails(t testing.TB, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Fatalf("error is %v, want %v", err, target)
	}
}

// same requires equal values; nil and empty are equal.
func same[T any](t testing.TB, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("-want +got:\n%s", diff)
	}
}

func ptr[T any](v T) *T { return &v }
