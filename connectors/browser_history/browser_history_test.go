package browserhistory_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest/inprocess"
	browserhistory "github.com/pdpp-go/pdpp/connectors/browser_history"
	"github.com/pdpp-go/pdpp/protocol"
)

const chromeSchema = `CREATE TABLE urls (id INTEGER PRIMARY KEY, url TEXT, title TEXT);
	CREATE TABLE visits (id INTEGER PRIMARY KEY, url INTEGER, visit_time INTEGER, visit_duration INTEGER)`

// profile makes a database and keeps it open.
func profile(t *testing.T, path, schema string) (exec func(string, ...any)) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	exec = func(text string, args ...any) {
		t.Helper()
		if _, err := db.Exec(text, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec(schema)
	return exec
}

// chromeTime is a moment as Chrome counts it.
func chromeTime(at time.Time) int64 { return at.UnixMicro() + 11_644_473_600_000_000 }

// TestWhatChangesLater holds that new visits are found whatever their time, that a visit of the
// last hour is looked at again in every run and an older one once a day, and that a visit which
// the browser forgot stays.
func TestWhatChangesLater(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "chrome", "Default", "History")
	exec := profile(t, file, chromeSchema)
	now := time.Now()
	early, lately := chromeTime(now.Add(-20*24*time.Hour)), chromeTime(now.Add(-time.Minute))
	exec("INSERT INTO urls VALUES (1, 'https://a.example/', 'old'), (2, 'https://b.example/', '')")
	exec("INSERT INTO visits VALUES (1, 1, ?, 0), (2, 2, ?, 0)", early, lately)
	kept := inprocess.NewMemoryRunner(t, browserhistory.Connector(), env(dir))
	run := func() { t.Helper(); kept.Run() }
	title := func(part string) string {
		for key, data := range kept.Records["visits"] {
			if strings.Contains(key, part) {
				_, data, _ = strings.Cut(data, `"title":"`)
				data, _, _ = strings.Cut(data, `"`)
				return data
			}
		}
		return "none"
	}
	run()
	if len(kept.Keys("visits")) != 2 {
		t.Fatalf("visits %v", kept.Keys("visits"))
	}
	exec("UPDATE urls SET title = 'new'")
	exec("INSERT INTO visits VALUES (3, 1, ?, 0)", chromeTime(now.Add(-60*24*time.Hour))) // synced from elsewhere
	run()
	if title("/2/") != "new" || title("/1/") != "old" || len(kept.Keys("visits")) != 3 {
		t.Errorf("after a while: %v", kept.Records["visits"])
	}
	tomorrow := now.Add(25 * time.Hour)
	if err := os.Chtimes(file, tomorrow, tomorrow); err != nil {
		t.Fatal(err)
	}
	run()
	if title("/1/") != "new" {
		t.Errorf("a day later: %v", kept.Records["visits"])
	}
	writes := kept.Writes
	exec("DELETE FROM visits WHERE id = 1")
	run()
	if kept.Writes != writes || len(kept.Keys("visits")) != 3 {
		t.Errorf("what was forgotten: %v", kept.Records["visits"])
	}
}

// TestAnotherDatabase shows that a database that numbers its rows from the beginning again is read completely, even
// if it has a row with the last known number.
func TestAnotherDatabase(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	now := time.Now()
	exec := profile(t, filepath.Join(dir, "chrome", "Default", "History"), chromeSchema)
	exec("INSERT INTO urls VALUES (1, 'https://a.example/', 'first')")
	exec("INSERT INTO visits VALUES (1, 1, ?, 0), (2, 1, ?, 0)", chromeTime(now.Add(-50*24*time.Hour)),
		chromeTime(now.Add(-40*24*time.Hour)))
	kept := inprocess.NewMemoryRunner(t, browserhistory.Connector(), env(dir)).Run()
	exec("DELETE FROM visits")
	exec("INSERT INTO visits VALUES (1, 1, ?, 0), (2, 1, ?, 0), (3, 1, ?, 0)", chromeTime(now.Add(-49*24*time.Hour)),
		chromeTime(now.Add(-48*24*time.Hour)), chromeTime(now.Add(-47*24*time.Hour)))
	kept.Run()
	if n := len(kept.Keys("visits")); n != 5 {
		t.Errorf("%d visits: %v", n, kept.Keys("visits"))
	}
}

// TestOwnersChoice holds that excluded hosts and credentials stay on the computer, and that folders in which
// no history can be are not looked into.
func TestOwnersChoice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	exec := profile(t, filepath.Join(dir, "safari", "History.db"),
		"CREATE TABLE history_items (id INTEGER PRIMARY KEY, url TEXT); CREATE TABLE history_visits (id INTEGER PRIMARY "+
			"KEY, history_item INTEGER, visit_time REAL, title TEXT)")
	secret := "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
	exec("INSERT INTO history_items VALUES (1, 'https://www.bank.example/konto'), (2, " +
		"'https://mara:hunter2@a.example/?token=hunter2'), (3, 'https://a.example/?x=" + secret + "')")
	exec("INSERT INTO history_visits VALUES (1, 1, 700000000, 'Balance'), (2, 2, 700000001.5, 'Two'), (3, 3, 700000002, " +
		"'Three'), (4, 99, 700000003, 'No page')")
	profile(t, filepath.Join(dir, "safari", "Touch Icons Cache", "images.db"), "CREATE TABLE icons (id INTEGER)")
	set := env(dir)
	set["PDPP_BROWSER_HISTORY_EXCLUDE_HOSTS"] = "bank.example"
	kept := inprocess.NewMemoryRunner(t, browserhistory.Connector(), set).Run()
	if got := kept.Keys("visits"); len(got) != 3 || !slices.Contains(got, "safari/2/700000001500000") {
		t.Errorf("visits %v", got)
	}
	for key, data := range kept.Records["visits"] {
		if strings.Contains(data, "hunter2") || strings.Contains(data, secret) || strings.Contains(data, "Balance") {
			t.Errorf("%s still has it: %s", key, data)
		}
	}
	if got := kept.Records["coverage_diagnostics"]["safari"]; !strings.Contains(got, `"excluded_host":1`) {
		t.Errorf("account %s", got)
	}
	if got := kept.Records["coverage_diagnostics"]["safari_other"]; !strings.Contains(got, `"files_present":0`) {
		t.Errorf("other files are counted: %s", got)
	}
}

// TestOddRows holds that values which no browser writes cost their own row at most.
func TestOddRows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	exec := profile(t, filepath.Join(dir, "firefox", "a.default", "places.sqlite"),
		"CREATE TABLE moz_places (id INTEGER PRIMARY KEY, url, title); CREATE TABLE moz_historyvisits (id INTEGER PRIMARY "+
			"KEY, place_id, visit_date, visit_type)")
	exec("INSERT INTO moz_places VALUES (1, x'ff00fe', 7), (2, NULL, NULL), (3, 'https://a.example/" +
		strings.Repeat("ä", 9000) + "', x'80')")
	exec("INSERT INTO moz_historyvisits VALUES (1, 1, 'soon', 'x'), (2, 2, 9223372036854775807, -1), (3, 3, " +
		"1704486400123456, 2), (4, 'none', NULL, 999), (-5, 3, 1.5, 1)")
	kept := inprocess.NewMemoryRunner(t, browserhistory.Connector(), env(dir)).Run()
	if len(kept.Gaps()) > 0 || !strings.Contains(kept.Records["visits"]["firefox/a.default/3/1704486400123456"],
		`"timestamp":"2024-01-05T20:26:40.123456Z"`) {
		t.Errorf("%v, gaps %v", kept.Keys("visits"), kept.Gaps())
	}
	if n := len(kept.Keys("visits")); n != 4 { // the browser counts from 1
		t.Errorf("%d visits: %v", n, kept.Keys("visits"))
	}
}

// TestManifestNamesEveryPlace holds that every folder of the manifest is read.
func TestManifestNamesEveryPlace(t *testing.T) {
	t.Parallel()
	for _, p := range browserhistory.Connector().Manifest.RuntimeRequirements.LocalPaths {
		dir := t.TempDir()
		for _, rel := range []string{"Default/History", "x/places.sqlite", "History.db", "x/History.db"} {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, rel)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, rel), []byte("no database"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		kept := inprocess.NewMemoryRunner(t, browserhistory.Connector(), map[string]string{p.PathEnv: dir}).Run()
		if !slices.ContainsFunc(kept.Gaps(), func(g protocol.DetailGap) bool { return g.Reason == "file_damaged" }) {
			t.Errorf("nothing was read in %s: %v", p.PathEnv, kept.Gaps())
		}
	}
}
