package davserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver"
)

// davicalScripts are what StartDAViCal's own installation loads into an empty database, in its order.
var davicalScripts = []string{
	"awl/dba/awl-tables.sql", "awl/dba/schema-management.sql",
	"davical/dba/davical.sql", "davical/dba/supported_locales.sql", "davical/dba/views/dav_principal.sql",
	"davical/dba/caldav_functions.sql", "davical/dba/rrule_functions.sql", "davical/dba/base-data.sql",
}

// addAccountsSQL adds accounts as StartDAViCal's page for administrators does.
const addAccountsSQL = `INSERT INTO usr (active, email_ok, updated, username, password, fullname, email)
	SELECT true, current_date, current_date, 'mara' || lpad(i::text, 3, '0'), '**%s',
		'Mara ' || i, 'mara' || i || '@example.org'
	FROM generate_series(0, %d) i;
INSERT INTO principal (type_id, user_no, displayname, default_privileges)
	SELECT 1, user_no, fullname, 0::bit(24) FROM usr WHERE username LIKE 'mara%%'`

// StartDAViCal starts a StartDAViCal with a database of its own in the PostgreSQL of the tests.
func StartDAViCal(t testing.TB) *Server {
	t.Helper()
	base, dir := realserver.PostgresAddress(t), t.TempDir()
	share := filepath.Join(realserver.UnpackedFolder(t, "PDPP_TEST_DAVICAL", "davical", "usr/share/davical"), "usr/share")
	database, drop, err := realserver.CreateDatabase(base, "davical")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := drop(); err != nil {
			t.Error(err)
		}
	})
	for _, name := range davicalScripts {
		text, err := os.ReadFile(filepath.Join(share, name))
		if err == nil {
			err = realserver.ExecuteSQL(database, string(text))
		}
		if err != nil {
			t.Fatalf("load %s: %v", name, err)
		}
	}
	if err := realserver.ExecuteSQL(database, fmt.Sprintf(addAccountsSQL, accountPassword, accountCount-1)); err != nil {
		t.Fatal(err)
	}
	s := &Server{root: "/caldav.php/"}
	s.layout.home = func(user string, _ bool) string { return s.root + user + "/" }
	s.shelves = func(a *Account) ([]storedCollection, error) { return readDatabaseRows(database, a) }
	s.forget = func(a *Account) error { return expireChanges(database, a) }
	port, err := realserver.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	if err := installPages(dir, share, database); err != nil {
		t.Fatal(err)
	}
	s.address = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	include := "include_path=" + filepath.Join(share, "awl/inc")
	pages := filepath.Join(dir, "htdocs")
	p, err := realserver.StartServer(s.serverCommand("/usr/bin/php", dir, "-d", include, "-S", s.address, "-t", pages))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// installPages copies the pages, which look for their settings beside them.
func installPages(dir, share, database string) error {
	at, err := pgx.ParseConfig(database)
	if err != nil {
		return err
	}
	settings := fmt.Sprintf("<?php\n$c->pg_connect[] = \"host=%s port=%d dbname=%s user=%s password=%s\";\n",
		at.Host, at.Port, at.Database, at.User, at.Password)
	return errors.Join(
		os.CopyFS(filepath.Join(dir, "htdocs"), os.DirFS(filepath.Join(share, "davical/htdocs"))),
		os.Symlink(filepath.Join(share, "davical/inc"), filepath.Join(dir, "inc")),
		os.CopyFS(filepath.Join(dir, "dba"), os.DirFS(filepath.Join(share, "davical/dba"))),
		os.MkdirAll(filepath.Join(dir, "config"), 0o755),
		os.WriteFile(filepath.Join(dir, "config", "config.php"), []byte(settings), 0o600),
	)
}

// readDatabaseRows reads what StartDAViCal's database has of an account.
func readDatabaseRows(database string, a *Account) ([]storedCollection, error) {
	ctx := context.Background()
	c, err := pgx.Connect(ctx, database)
	if err != nil {
		return nil, err
	}
	defer c.Close(ctx)
	found, err := c.Query(ctx, `SELECT c.dav_name, coalesce(c.dav_displayname, ''), coalesce(c.description, ''),
			coalesce(d.dav_name, ''), coalesce(d.caldav_data, '')
		FROM collection c JOIN usr USING (user_no) LEFT JOIN caldav_data d USING (collection_id)
		WHERE usr.username = $1 AND CASE WHEN $2 THEN c.is_addressbook ELSE c.is_calendar END
		ORDER BY c.dav_name`, a.user, a.books)
	if err != nil {
		return nil, err
	}
	var all []storedCollection
	var path, title, description, object, text string
	_, err = pgx.ForEachRow(found, []any{&path, &title, &description, &object, &text}, func() error {
		name := filepath.Base(path)
		if n := len(all); n == 0 || all[n-1].name != name {
			all = append(all, storedCollection{name: name, title: title, description: description, objects: map[string][]byte{}})
		}
		if object != "" {
			all[len(all)-1].objects[strings.TrimPrefix(object, path)] = []byte(text)
		}
		return nil
	})
	return all, err
}

// expireChanges lets sixteen days pass in which another program of the owner follows the collections: StartDAViCal
// then deletes the tokens that are older than seven days, but for the last of them, and the changes up to it.
func expireChanges(database string, a *Account) error {
	const (
		week = `UPDATE sync_tokens SET modification_time = modification_time - interval '8 days';
			UPDATE sync_changes SET sync_time = sync_time - interval '8 days'; `
		sync = `SELECT new_sync_token(0, collection_id) FROM collection`
		held = `DROP TABLE IF EXISTS held; CREATE TABLE held AS SELECT max(sync_token) AS last FROM sync_tokens`
		left = `DO $$ BEGIN IF EXISTS (SELECT FROM sync_tokens, held WHERE sync_token <= last)
			THEN RAISE 'a token is left'; END IF; END $$`
	)
	if err := realserver.ExecuteSQL(database, held); err != nil {
		return err
	}
	for range 2 {
		for _, name := range a.shelf {
			if err := a.addObject(name); err != nil {
				return err
			}
		}
		if err := realserver.ExecuteSQL(database, week+sync); err != nil {
			return err
		}
	}
	return realserver.ExecuteSQL(database, left)
}
