package whatsapp_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest/inprocess"
	"github.com/pdpp-go/pdpp/connectors/whatsapp"
	"github.com/pdpp-go/pdpp/providersim/files"
)

// TestNoDoubles holds, for phones of every form and any exports of the same chats, with files
// and without, that every message is there once.
func TestNoDoubles(t *testing.T) {
	t.Parallel()
	connector := whatsapp.Connector()
	for seed := range uint64(8) {
		dir := t.TempDir()
		phone, err := files.NewPhone(dir, files.Config{Seed: seed, Sessions: 8})
		if err != nil {
			t.Fatal(err)
		}
		env := map[string]string{"WHATSAPP_EXPORT_DIR": dir, "PDPP_WHATSAPP_TIME_ZONE": "UTC"}
		kept := inprocess.NewMemoryRunner(t, connector, env).Run()
		for range 80 {
			what, err := phone.Step()
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if what == "export" {
				kept.Run()
			}
		}
		if n := len(kept.Keys("messages")); n != phone.Distinct() {
			t.Errorf("form %d: %d messages were kept of %d", seed, n, phone.Distinct())
		}
		if n := len(kept.Keys("chats")); n != 2 {
			t.Errorf("form %d: %d chats", seed, n)
		}
	}
}

// TestAndroid shows that a decrypted Android database has the same message ids as the database of a Mac.
func TestAndroid(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	phoneDatabase(t, dir)
	kept := inprocess.NewMemoryRunner(t, whatsapp.Connector(), map[string]string{"WHATSAPP_EXPORT_DIR": dir}).Run()
	for key, want := range map[string]string{
		"15550100@s.whatsapp.net:A1": `"author_id":"15550100@s.whatsapp.net","is_from_me":false,"kind":"message",` +
			`"content":"the boat is in","has_attachment":false,"sent_at":"2026-03-01T09:00:00.000Z"`,
		"15550100@s.whatsapp.net:A2": `"is_from_me":true,"kind":"message","content":"good"`,
		"120363@g.us:A3": `"author_id":"15550101@s.whatsapp.net","is_from_me":false,"kind":"image",` +
			`"has_attachment":true`,
	} {
		if got := kept.Records["messages"][key]; !strings.Contains(got, want) {
			t.Errorf("%s lacks %s: %s", key, want, got)
		}
	}
	if got := kept.Records["attachments"]["120363@g.us:A3:file"]; !strings.Contains(got, `"filename":"IMG-1.jpg"`) ||
		!strings.Contains(got, `"size_bytes":77`) {
		t.Error(got)
	}
	if got := kept.Records["chats"]["120363@g.us"]; !strings.Contains(got, `"title":"The crew"`) {
		t.Error(got)
	}
	if len(kept.Gaps()) != 1 || kept.Gaps()[0].Reason != "message_date_unusable" {
		t.Errorf("declared as missing: %v", kept.Gaps())
	}
}

// phoneDatabase writes a decrypted database of a phone into a folder.
func phoneDatabase(t *testing.T, dir string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "msgstore.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, text := range []string{
		`CREATE TABLE jid (_id INTEGER PRIMARY KEY, user TEXT, server TEXT, raw_string TEXT)`,
		`CREATE TABLE chat (_id INTEGER PRIMARY KEY AUTOINCREMENT, jid_row_id INTEGER, subject TEXT)`,
		`CREATE TABLE message (_id INTEGER PRIMARY KEY AUTOINCREMENT, chat_row_id INTEGER, from_me INTEGER, key_id TEXT, ` +
			`sender_jid_row_id INTEGER, timestamp INTEGER, text_data TEXT, message_type INTEGER)`,
		`CREATE TABLE message_media (message_row_id INTEGER PRIMARY KEY, file_path TEXT, media_name TEXT, mime_type TEXT,` +
			` file_length INTEGER)`,
		`INSERT INTO jid VALUES (1, '15550100', 's.whatsapp.net', '15550100@s.whatsapp.net'), (2, '120363', 'g.us', ` +
			`'120363@g.us'), (3, '15550101', 's.whatsapp.net', '15550101@s.whatsapp.net')`,
		`INSERT INTO chat (jid_row_id, subject) VALUES (1, NULL), (2, 'The crew')`,
		`INSERT INTO message (chat_row_id, from_me, key_id, sender_jid_row_id, timestamp, text_data, message_type) VALUES
			(1, 0, 'A1', 0, 1772355600000, 'the boat is in', 0), (1, 1, 'A2', 0, 1772355660000, 'good', 0), (2, 0, 'A3', 
			3, 1772355720000, NULL, 1), (2, 0, 'A4', 3, 0, 'no time', 0)`,
		`INSERT INTO message_media VALUES (3, 'Media/WhatsApp Images/IMG-1.jpg', NULL, 'image/jpeg', 77)`,
	} {
		if _, err := db.Exec(text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
}

// TestOtherZones shows that the configured zone applies to the phone's clock, and that ids stay when it is corrected.
func TestOtherZones(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "WhatsApp Chat with Ana.txt"), []byte("13/07/2026, 10:11 - Ana: hello\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "WhatsApp Chat with Ana.txt"), old, old); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for zone, want := range map[string]string{"Europe/Lisbon": "2026-07-13T09:11:00.000Z",
		"Asia/Tokyo": "2026-07-13T01:11:00.000Z"} {
		kept := inprocess.NewMemoryRunner(t, whatsapp.Connector(),
			map[string]string{"WHATSAPP_EXPORT_DIR": dir, "PDPP_WHATSAPP_TIME_ZONE": zone}).Run()
		ids = append(ids, kept.Keys("messages")...)
		if got := kept.Records["messages"][ids[0]]; !strings.Contains(got, want) ||
			!strings.Contains(got, `"sent_at_local":"2026-07-13T10:11"`) {
			t.Errorf("%s: %s", zone, got)
		}
	}
	if len(ids) != 2 || ids[0] != ids[1] {
		t.Errorf("ids %v", ids)
	}
}
