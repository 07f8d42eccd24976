package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/storetest"
	"github.com/pdpp-go/pdpp/internal/storage/store/storetest/scratch"
)

// wantFault requires a fault of one kind with a next step and without the password.
func wantFault(t *testing.T, err error, want store.StorageFault) {
	t.Helper()
	var fault *store.FaultError
	if !errors.As(err, &fault) || fault.Fault != want || fault.NextStep() == "" {
		t.Fatalf("error is %v, want %s", err, want)
	}
	if strings.Contains(err.Error(), password) {
		t.Fatalf("error %v names the password", err)
	}
}

const password = "hunter2hunter2"

// with returns the URL with a setting for every connection.
func with(t *testing.T, base, name, value string) string {
	t.Helper()
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set(name, value)
	u.RawQuery = q.Encode()
	return u.String()
}

// connectFor opens a connection without the store.
func connectFor(t *testing.T, url string, statements ...string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	for _, q := range statements {
		if _, err := conn.Exec(t.Context(), q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	return conn
}

// seed creates a store with three numbered slices.
func seed(t *testing.T) (url string, l store.Lease) {
	t.Helper()
	url = copied(t)
	s := open(t, url, Options{})
	l = storetest.BeginNumbered(t, s)
	for n := range 3 {
		commit(t, s, l, n+1)
	}
	return url, l
}

func commit(t *testing.T, s store.Store, l store.Lease, n int) {
	t.Helper()
	if _, err := s.CommitSlice(t.Context(), l, storetest.NumberedSlice(n), storetest.Now); err != nil {
		t.Fatal(err)
	}
}

// failCommit requires that the next slice fails with a fault and leaves nothing.
func failCommit(t *testing.T, s store.Store, l store.Lease, want store.StorageFault) {
	t.Helper()
	_, err := s.CommitSlice(t.Context(), l, storetest.NumberedSlice(4), storetest.Now)
	wantFault(t, err, want)
	if n := storetest.WholeSlices(t, s); n != 3 {
		t.Fatalf("%d slices after the fault, want 3", n)
	}
}

func TestFaultUnreachable(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	message := listener.Addr().String()
	listener.Close()
	base, err := url.Parse(scratch.CreateSchema(t))
	if err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{
		"no server":       fmt.Sprintf("postgres://ann:%s@%s/pdpp", password, message),
		"no such host":    fmt.Sprintf("postgres://ann:%s@no-such-host.invalid/pdpp", password),
		"no database":     strings.Replace(base.String(), base.Path, "/no_such_database", 1),
		"not a URL":       fmt.Sprintf("postgres://ann:%s@127.0.0.1:notaport/pdpp", password),
		"not a parameter": fmt.Sprintf("host=127.0.0.1 port=x password=%s", password),
	} {
		_, err := Open(t.Context(), target, Options{})
		t.Log(name, err)
		wantFault(t, err, store.FaultUnreachable)
	}
}

func TestFaultWhere(t *testing.T) {
	t.Parallel()
	_, err := Open(t.Context(), fmt.Sprintf("postgres://ann:%s@127.0.0.1:1/pdpp", password), Options{})
	var fault *store.FaultError
	if !errors.As(err, &fault) || fault.Where != "127.0.0.1:1/pdpp" {
		t.Fatalf("error is %v, want it to name the host and the database", err)
	}
}

// TestFaultLostConnections ends every connection in the server. The store must fail without a trace, report the
// fault, and connect again.
func TestFaultLostConnections(t *testing.T) {
	t.Parallel()
	base, l := seed(t)
	target := with(t, base, "application_name", t.Name())
	s := open(t, target, Options{})
	if n := storetest.WholeSlices(t, s); n != 3 {
		t.Fatal(n)
	}
	connectFor(t, base, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '`+t.Name()+`'`)
	for attempt := 0; ; attempt++ {
		_, err := s.CommitSlice(t.Context(), l, storetest.NumberedSlice(4), storetest.Now)
		if err == nil {
			break
		}
		wantFault(t, err, store.FaultUnreachable)
		if attempt > defaultConnections {
			t.Fatal("the store does not connect again")
		}
	}
	if n := storetest.WholeSlices(t, s); n != 4 {
		t.Fatalf("%d slices, want 4", n)
	}
}

func TestFaultReadOnly(t *testing.T) {
	t.Parallel()
	base, l := seed(t)
	s := open(t, with(t, base, "default_transaction_read_only", "on"), Options{})
	failCommit(t, s, l, store.FaultReadOnly)
	wantFault(t, s.Check(t.Context()), store.FaultReadOnly)
}

func TestFaultLocked(t *testing.T) {
	t.Parallel()
	base, l := seed(t)
	s := open(t, with(t, base, "lock_timeout", "20"), Options{})
	other := connectFor(t, base, `BEGIN`, `LOCK TABLE connector_state IN EXCLUSIVE MODE`)
	failCommit(t, s, l, store.FaultLocked)
	if _, err := other.Exec(t.Context(), `ROLLBACK`); err != nil {
		t.Fatal(err)
	}
	commit(t, s, l, 4)
}

// TestFaultServer makes the server report faults in the middle of a slice that a test cannot cause on its disk.
func TestFaultServer(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]store.StorageFault{
		"53100": store.FaultFull,
		"XX001": store.FaultCorrupt,
		"57P01": store.FaultUnreachable,
		"42501": store.FaultReadOnly,
	} {
		base, l := seed(t)
		s := open(t, base, Options{})
		conn := connectFor(t, base,
			`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '`+
				code+`'; END $$`,
			`CREATE TRIGGER refuse BEFORE INSERT ON cursor_log FOR EACH ROW EXECUTE FUNCTION refuse()`)
		failCommit(t, s, l, want)
		if _, err := conn.Exec(t.Context(), `DROP TRIGGER refuse ON cursor_log`); err != nil {
			t.Fatal(err)
		}
		commit(t, s, l, 4)
	}
}

// TestFaultTooOld opens a database from before the baseline, which this program cannot upgrade.
func TestFaultTooOld(t *testing.T) {
	t.Parallel()
	base, _ := seed(t)
	connectFor(t, base, `DELETE FROM goose_db_version WHERE version_id > 0`,
		`INSERT INTO goose_db_version (version_id, is_applied) VALUES (28, true)`)
	_, err := Open(t.Context(), base, Options{})
	wantFault(t, err, store.FaultTooOld)
	if !strings.Contains(err.Error(), "version 28, upgraded from 29 on") {
		t.Errorf("error reads %q", err)
	}
}

func TestFaultTooNew(t *testing.T) {
	t.Parallel()
	base, _ := seed(t)
	connectFor(t, base, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, true)`)
	_, err := Open(t.Context(), base, Options{})
	wantFault(t, err, store.FaultTooNew)
}
