package imessage_test

import (
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest/inprocess"
	"github.com/pdpp-go/pdpp/connectorkit/localarchive/archivetest"
	"github.com/pdpp-go/pdpp/connectors/imessage"
	"github.com/pdpp-go/pdpp/protocol"
	"github.com/pdpp-go/pdpp/providersim/files"
)

// openDatabase makes a database of Messages of an older system, with nothing but these
// statements in it.
func openDatabase(t *testing.T, path string, statements ...string) *sql.DB {
	t.Helper()
	address := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: "_pragma=journal_mode(WAL)"}
	db, err := sql.Open("sqlite", address.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	for _, text := range statements {
		if _, err := db.Exec(text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	return db
}

// TestOlderSystem shows that a database without the columns and tables of newer systems is collected, and that
// missing parts are declared once.
func TestOlderSystem(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "copy of chat.db")
	db := openDatabase(t, path,
		`CREATE TABLE message (ROWID INTEGER PRIMARY KEY AUTOINCREMENT, guid TEXT, text TEXT, date INTEGER, is_from_me `+
			`INTEGER)`,
		`INSERT INTO message (guid, text, date, is_from_me) VALUES ('A', 'the ferry is late', 430000000, 0), ('B', `+
			`'noted', 430000060, 1)`)
	env := map[string]string{"IMESSAGE_DB_PATH": path}
	kept := inprocess.NewMemoryRunner(t, imessage.Connector(), env)
	for range 2 {
		kept.Run()
		if _, err := db.Exec("UPDATE message SET is_from_me = is_from_me"); err != nil {
			t.Fatal(err)
		}
	}
	got := kept.Records["messages"]["A"]
	for _, want := range []string{`"text":"the ferry is late"`, `"date":"2014-08-17T20:26:40.000Z"`, `"is_from_me":false`,
		`"kind":"message"`} {
		if !strings.Contains(got, want) {
			t.Errorf("the message lacks %s: %s", want, got)
		}
	}
	var reasons []string
	for _, g := range kept.Gaps() {
		reasons = append(reasons, string(g.Reason))
	}
	slices.Sort(reasons)
	if !slices.Equal(reasons, []string{"attachment_tables_missing", "chat_handle_join_table_missing"}) {
		t.Errorf("declared as missing: %v", reasons)
	}
}

// TestOldHistoryComes holds that messages with old dates and new numbers, which the program
// fetches later, are collected, and that a message is read again only while it may change.
func TestOldHistoryComes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	day := func(n int) int64 {
		return int64(time.Since(time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)).Hours()/24-float64(n)) * 86400 * 1e9
	}
	db := openDatabase(t, filepath.Join(dir, "chat.db"),
		`CREATE TABLE message (ROWID INTEGER PRIMARY KEY AUTOINCREMENT, guid TEXT, text TEXT, attributedBody BLOB, date `+
			`INTEGER, date_edited INTEGER)`,
		fmt.Sprintf(`INSERT INTO message (guid, text, date) VALUES ('new', 'one', %d), ('old', 'two', %d)`, day(2), day(200)))
	env := map[string]string{"IMESSAGE_DB_PATH": dir}
	kept := inprocess.NewMemoryRunner(t, imessage.Connector(), env).Run()
	for _, text := range []string{
		fmt.Sprintf(`INSERT INTO message (guid, text, date) VALUES ('fetched', 'from years ago', %d)`, day(3000)),
		`UPDATE message SET text = 'edited'`,
	} {
		if _, err := db.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	before := kept.Writes
	kept.Run()
	if got := kept.Keys("messages"); !slices.Equal(got, []string{"fetched", "new", "old"}) {
		t.Errorf("messages %v", got)
	}
	for key, want := range map[string]string{"new": "edited", "old": "two", "fetched": "edited"} {
		if got := kept.Records["messages"][key]; !strings.Contains(got, `"text":"`+want+`"`) {
			t.Errorf("%s is not %q: %s", key, want, got)
		}
	}
	if n := kept.Writes - before; n != 2 {
		t.Errorf("%d records were written", n)
	}
}

// TestChatsAndUndated sends chats and their members again only when one of them changed, and declares messages without
// any date: the first hundred each, all by their number.
func TestChatsAndUndated(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := openDatabase(t, filepath.Join(dir, "chat.db"),
		`CREATE TABLE message (ROWID INTEGER PRIMARY KEY AUTOINCREMENT, guid TEXT, text TEXT, date INTEGER)`,
		`CREATE TABLE chat (ROWID INTEGER PRIMARY KEY, guid TEXT, chat_identifier TEXT, display_name TEXT, style INTEGER)`,
		`CREATE TABLE handle (ROWID INTEGER PRIMARY KEY, id TEXT)`,
		`CREATE TABLE chat_handle_join (chat_id INTEGER, handle_id INTEGER)`,
		`INSERT INTO chat VALUES (1, 'c1', 'ana@example.com', '', 45), (2, 'c2', 'x', '', 43), (3, 'c3', 'y', 'Boats', 43)`,
		`INSERT INTO handle VALUES (1, 'ana@example.com'), (2, '+15550100')`,
		`INSERT INTO chat_handle_join VALUES (1, 1), (2, 1), (2, 2), (2, 2), (9, 1)`,
		`INSERT INTO message (guid, text, date) VALUES ('A', 'one', 794000000000000000)`)
	for n := range 102 {
		if _, err := db.Exec("INSERT INTO message (guid, date) VALUES (?, 0)", fmt.Sprintf("undated%03d", n)); err != nil {
			t.Fatal(err)
		}
	}
	kept := inprocess.NewMemoryRunner(t, imessage.Connector(), map[string]string{"IMESSAGE_DB_PATH": dir}).Run()
	var titles []string
	for _, key := range kept.Keys("chats") {
		titles = append(titles, fmt.Sprint(kept.Fields("chats", key)["title"], kept.Fields("chats", key)["is_group"]))
	}
	want := "[ana@example.comfalse ana@example.com and 1 moretrue Boatstrue]"
	if got := fmt.Sprint(titles); got != want || len(kept.Keys("participants")) != 3 {
		t.Errorf("chats %s, members %v", got, kept.Keys("participants"))
	}
	undated := 0
	for _, g := range kept.Gaps() {
		if g.Reason == "message_date_unusable" && !g.Retryable {
			undated++
		}
	}
	counted := archivetest.StoredCoverage(t, kept, "database").LinesByKind["message_date_unusable"]
	if undated != 100 || counted != 102 {
		t.Errorf("%d messages are declared and %d counted", undated, counted)
	}
	for step, c := range []struct {
		statement string
		sent      int
	}{
		{`INSERT INTO message (guid, text, date) VALUES ('B', 'two', 794000000000000001)`, 0},
		{`UPDATE chat SET display_name = 'Sails' WHERE ROWID = 3`, 6},
	} {
		if _, err := db.Exec(c.statement); err != nil {
			t.Fatal(err)
		}
		sent := 0
		kept.Observe = func(m protocol.Message) {
			if r, ok := m.(*protocol.Record); ok && (r.Stream == "chats" || r.Stream == "participants") {
				sent++
			}
		}
		if kept.Run(); sent != c.sent {
			t.Errorf("step %d sent %d chats and members, want %d", step, sent, c.sent)
		}
	}
	if got := kept.Fields("chats", "c3")["title"]; got != "Sails" || len(kept.Keys("messages")) != 2 {
		t.Errorf("the chat is %v, messages %v", got, kept.Keys("messages"))
	}
}

// TestLargeDatabase commits a large database in parts: after so many messages, and after so many bytes.
func TestLargeDatabase(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ messages, size, atOnce int }{{2500, 10, 1001}, {900, 20_000, 500}} {
		dir := t.TempDir()
		openDatabase(t, filepath.Join(dir, "chat.db"),
			`CREATE TABLE message (ROWID INTEGER PRIMARY KEY AUTOINCREMENT, guid TEXT, text TEXT, date INTEGER)`,
			fmt.Sprintf(`INSERT INTO message (guid, text, date) WITH RECURSIVE n(i) AS
				(SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
				SELECT 'm' || i, hex(zeroblob(%d)), 794000000000000000 + i FROM n`, c.messages, c.size/2))
		kept := inprocess.NewMemoryRunner(t, imessage.Connector(), map[string]string{"IMESSAGE_DB_PATH": dir})
		open, most := 0, 0
		kept.Observe = func(m protocol.Message) {
			switch m := m.(type) {
			case *protocol.Record:
				if m.Stream == "messages" {
					open++
				}
			case *protocol.State:
				most, open = max(most, open), 0
			}
		}
		if kept.Run(); len(kept.Keys("messages")) != c.messages || most > c.atOnce {
			t.Errorf("%d messages of %d bytes: %d stored, %d at once", c.messages, c.size, len(kept.Keys("messages")), most)
		}
	}
}

// TestNoDatabase holds that a file which is no database, or one of something else, is a gap,
// and that the run goes on.
func TestNoDatabase(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(path string){
		"placeholder": func(path string) {
			if err := os.WriteFile(path, []byte(strings.Repeat("not here yet ", 500)), 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"something else": func(path string) { openDatabase(t, path, "CREATE TABLE other (x)") },
	} {
		dir := t.TempDir()
		make(filepath.Join(dir, "chat.db"))
		kept := inprocess.NewMemoryRunner(t, imessage.Connector(), map[string]string{"IMESSAGE_DB_PATH": dir}).Run()
		if !slices.ContainsFunc(kept.Gaps(), func(g protocol.DetailGap) bool {
			return g.Stream == "messages" && g.Reason == "file_damaged" && g.Retryable
		}) {
			t.Errorf("%s: %v", name, kept.Gaps())
		}
	}
}

// TestTextIsKeptWhole holds what becomes of texts: long ones are cut and marked, the places
// of attachments are left out, and secrets are masked.
func TestTextIsKeptWhole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := openDatabase(t, filepath.Join(dir, "chat.db"),
		`CREATE TABLE message (ROWID INTEGER PRIMARY KEY AUTOINCREMENT, guid TEXT, text TEXT, attributedBody BLOB, date `+
			`INTEGER)`)
	for key, text := range map[string]string{"long": strings.Repeat("wave ", 100_000), "picture": "\ufffclook",
		"secret": "token ghp_" + strings.Repeat("a1B2", 9)} {
		if _, err := db.Exec("INSERT INTO message (guid, attributedBody, date) VALUES (?, ?, 794000000000000000)", key,
			files.Body(text, true)); err != nil {
			t.Fatal(err)
		}
	}
	kept := inprocess.NewMemoryRunner(t, imessage.Connector(), map[string]string{"IMESSAGE_DB_PATH": dir}).Run()
	m := kept.Records["messages"]
	if !strings.Contains(m["long"], `"text_cut":true`) || len(m["long"]) < 256<<10 || len(m["long"]) > 257<<10 {
		t.Errorf("%d bytes of a long text", len(m["long"]))
	}
	if !strings.Contains(m["picture"], `"text":"look"`) {
		t.Error(m["picture"])
	}
	if strings.Contains(m["secret"], "a1B2") || !strings.Contains(m["secret"], "[redacted:") {
		t.Error(m["secret"])
	}
}

// FuzzRows holds that no values in a database make the connector fail.
func FuzzRows(f *testing.F) {
	f.Add([]byte("guid"), []byte("text"), files.Body("body", false), int64(794000000), int64(2000), []byte("p:0/x"),
		files.Plist(map[string]any{"rp": []any{0}}))
	f.Add([]byte{0xff}, []byte{}, []byte("\x04\x0bstreamtyped"), int64(-1), int64(3006), []byte("bp:"), []byte("bplist00"))
	connector := imessage.Connector()
	f.Fuzz(func(t *testing.T, guid, text, body []byte, date, code int64, target, summary []byte) {
		dir := t.TempDir()
		db := openDatabase(t, filepath.Join(dir, "chat.db"), `CREATE TABLE message (ROWID INTEGER PRIMARY KEY, guid, 
		text, attributedBody, date, associated_message_type,
			associated_message_guid, message_summary_info, date_edited, item_type, is_from_me)`)
		for i := range int64(3) {
			if _, err := db.Exec("INSERT INTO message VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", date>>(8*i),
				append(guid, byte(i)), text, body, date>>(16*i), code, target, summary, date, code>>(8*i), text); err != nil {
				return // the same number twice
			}
		}
		inprocess.NewMemoryRunner(t, connector, map[string]string{"IMESSAGE_DB_PATH": dir}).Run()
	})
}
