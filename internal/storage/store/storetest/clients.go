package storetest

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// RunClientsApart checks that the owner does not wait while clients use every connection that reads for them, and
// another client does.
func RunClientsApart(t *testing.T, s store.Store) {
	ctx := t.Context()
	l := begin(t, s, "c", "r1")
	put(t, s, l, live("a", "x"))
	pool := s.(interface{ ClientReaders() *sql.DB }).ClientReaders()
	var held []*sql.Conn
	for range pool.Stats().MaxOpenConnections {
		conn, err := pool.Conn(ctx)
		ok(t, err)
		held = append(held, conn)
	}
	same(t, len(held) > 0, true)
	q := store.RecordQuery{AccessFilter: wholeStream, Where: []store.FieldValue{{Field: "v", Value: "x"}}, MaxBytes: 1000}
	same(t, listed(t, s, q), []string{"a"})
	brief, cancel := context.WithTimeout(store.ForClient(ctx), time.Millisecond)
	defer cancel()
	for name, read := range map[string]func() error{
		"records": func() error { _, err := s.ListRecords(brief, q); return err },
		"streams": func() error { _, err := s.Streams(brief, ""); return err },
		"token":   func() error { _, err := s.GrantByToken(brief, []byte("hash")); return err },
	} {
		if err := read(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s for a client: %v", name, err)
		}
	}
	for _, conn := range held {
		ok(t, conn.Close())
	}
	got, err := s.ListRecords(store.ForClient(ctx), q)
	ok(t, err)
	same(t, keysOf(got), []string{"a"})
	conn, err := pool.Conn(ctx)
	ok(t, err)
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, `UPDATE records SET seq = 0`); err == nil {
		t.Error("a reader for clients writes")
	}
}
