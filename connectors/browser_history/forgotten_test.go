package browserhistory_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
)

const firefoxSchema = `CREATE TABLE moz_places (id INTEGER PRIMARY KEY, url TEXT, title TEXT);
	CREATE TABLE moz_historyvisits (id INTEGER PRIMARY KEY, from_visit INTEGER, place_id INTEGER, visit_date INTEGER,
		visit_type INTEGER);
	CREATE TABLE moz_bookmarks (id INTEGER PRIMARY KEY, type INTEGER, fk INTEGER, parent INTEGER, title TEXT,
		dateAdded INTEGER, lastModified INTEGER, guid TEXT);
	CREATE TABLE moz_bookmarks_deleted (guid TEXT PRIMARY KEY, dateRemoved INTEGER NOT NULL DEFAULT 0);
	INSERT INTO moz_bookmarks VALUES (1, 2, NULL, 0, 'menu', 1, 1, 'menu________')`

// TestForgottenRemovals removes bookmarks while none of our own remembers them. What Firefox reports as removed is
// deleted; a bookmark that is merely not there stays.
func TestForgottenRemovals(t *testing.T) {
	t.Parallel()
	connectortest.RunForgotten(t, func(t *testing.T) connectortest.ForgetfulSource {
		dir := t.TempDir()
		exec := profile(t, filepath.Join(dir, "firefox", "abc.default", "places.sqlite"), firefoxSchema)
		now := time.Now().Add(-time.Hour).UnixMicro()
		first, last := 0, 0
		add := func() {
			exec("INSERT INTO moz_places VALUES (?, ?, '')", last, fmt.Sprintf("https://%d.example/", last))
			exec("INSERT INTO moz_bookmarks VALUES (?, 1, ?, 1, '', ?, ?, ?)", 10+last, last, now, now,
				fmt.Sprintf("guid%d", last))
			last++
		}
		for range 9 {
			add()
		}
		sim := &connectortest.Sim{Env: map[string]string{"BROWSER_HISTORY_FIREFOX_DIR": filepath.Join(dir, "firefox")}}
		return connectortest.ForgetfulSource{
			Target: connectortest.Target{Connector: connectortest.BuiltInConnector(t, "browser_history"),
				Start: func(*testing.T) *connectortest.Sim { return sim }},
			Stream: "bookmarks", Away: "another one", Add: add,
			Delete: func(*testing.T) {
				exec("DELETE FROM moz_bookmarks WHERE guid IN (?, ?)", fmt.Sprintf("guid%d", first), "guid8")
				exec("INSERT INTO moz_bookmarks_deleted VALUES (?, ?)", fmt.Sprintf("guid%d", first), time.Now().UnixMicro())
				first++
			},
			There: func(*testing.T) (keys []string) {
				for i := first; i < last; i++ {
					keys = append(keys, fmt.Sprintf("firefox/abc.default/guid%d", i))
				}
				return keys
			},
		}
	})
}
