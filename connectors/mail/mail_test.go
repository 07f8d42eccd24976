package mail_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest/inprocess"
	"github.com/pdpp-go/pdpp/connectors/mail"
)

func put(t testing.TB, dir, rel, content string) {
	t.Helper()
	to := filepath.Join(dir, filepath.FromSlash(rel))
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func field(t testing.TB, kept *inprocess.MemoryRunner, key, name string) any {
	t.Helper()
	var rec map[string]any
	if err := json.Unmarshal([]byte(kept.Records["messages"][key]), &rec); err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	return rec[name]
}

// TestFlagsAreRenames shows that a message stays the same record when flags in its file name change.
func TestFlagsAreRenames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, "maildir/new/1.a.host", "Subject: Hello\nFrom: mara@example.org\n\nBody\n")
	put(t, dir, "maildir/tmp/2.b.host", "Subject: Not yet\n\n")
	kept := inprocess.NewMemoryRunner(t, mail.Connector(), env(dir))
	run := func() { t.Helper(); kept.Run() }
	run()
	move := func(from, to string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, to)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)); err != nil {
			t.Fatal(err)
		}
		run()
	}
	move("maildir/new/1.a.host", "maildir/cur/1.a.host:2,RS")
	if got := field(t, kept, "maildir/1.a.host", "flags"); fmt.Sprint(got) != "[replied seen]" {
		t.Errorf("flags %v", got)
	}
	move("maildir/cur/1.a.host:2,RS", "maildir/.Lists.Boats/cur/1.a.host:2,S")
	if got := field(t, kept, "maildir/1.a.host", "folder"); got != "Lists/Boats" {
		t.Errorf("folder %v", got)
	}
	if err := os.Remove(filepath.Join(dir, "maildir/.Lists.Boats/cur/1.a.host:2,S")); err != nil {
		t.Fatal(err)
	}
	before := kept.Writes
	run()
	if got := kept.Keys("messages"); !slices.Equal(got, []string{"maildir/1.a.host"}) || kept.Writes != before {
		t.Errorf("messages %v, %d writes", got, kept.Writes-before)
	}
}

// TestMbox shows that an mbox is continued, that rewriting one changes no existing record, and that a partly written
// message is completed later.
func TestMbox(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one := func(n int, body string) string {
		return fmt.Sprintf("From mara@example.org Mon Jan 05 10:00:%02d 2026\nMessage-ID: <%d@x>\nSubject: Number %d\n"+
			"Status: RO\n\n%s\n\n", n, n, n, body)
	}
	text := one(1, "first\n\n>From the harbour\n>>From far\nFrom here it is no new message") + one(2, "second")
	put(t, dir, "mbox/a.mbox", text)
	kept := inprocess.NewMemoryRunner(t, mail.Connector(), env(dir))
	run := func() { t.Helper(); kept.Run() }
	run()
	bodies := func() (out []string) {
		for _, key := range kept.Keys("messages") {
			out = append(out, field(t, kept, key, "text").(string))
		}
		slices.Sort(out)
		return out
	}
	want := []string{"first\n\nFrom the harbour\n>From far\nFrom here it is no new message", "second"}
	if got := bodies(); !slices.Equal(got, want) {
		t.Fatalf("%q", got)
	}
	third := one(3, "third, and more")
	put(t, dir, "mbox/a.mbox", text+third[:len(third)-8])
	run()
	if got := bodies(); len(got) != 3 || got[2] != "third, an" {
		t.Fatalf("%q", got)
	}
	put(t, dir, "mbox/a.mbox", text+third)
	run()
	if got := bodies(); len(got) != 3 || got[2] != "third, and more" {
		t.Errorf("%q", got)
	}
	before := kept.Writes
	put(t, dir, "mbox/a.mbox",
		strings.ReplaceAll(text[strings.Index(text, "From mara@example.org Mon Jan 05 10:00:02"):]+third, "\n", "\r\n"))
	run()
	if got := bodies(); len(got) != 3 {
		t.Errorf("%d messages, %d writes", len(got), kept.Writes-before)
	}
	if got := field(t, kept, kept.Keys("messages")[0], "flags"); fmt.Sprint(got) != "[seen]" {
		t.Errorf("flags %v", got)
	}
}

// TestOneMessage holds what a message of many parts becomes.
func TestOneMessage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, "maildir/cur/1.a.host:2,", strings.Join([]string{
		"Received: from x", "From: =?utf-8?q?M=C3=A4ra?= =?utf-8?q?_Ito?= <MARA@example.org>", "To: undisclosed-recipients:;",
		"Cc: broken <a@example.org, \"B\" <b@example.org>",
		"Subject: =?koi8-r?B?8NLJ18XU?= and", "\tmore", "Date: Tue, 3 Mar 2026 10:00:00 +0100 (CET)", "Message-ID: <m@x>",
		"In-Reply-To: <p@x>", "References: <r@x> <p@x>", "X-GM-THRID: 1700000000000000001",
		"X-Gmail-Labels: =?UTF-8?Q?Wichtig,=C3=96ffentlich?=", "Content-Type: multipart/mixed; boundary=out", "", "preamble",
		"--out",
		"Content-Type: multipart/related; boundary=in", "", "--in", "Content-Type: text/html; charset=iso-8859-15",
		"Content-Transfer-Encoding: quoted-printable", "",
		"<html><head><title>no</title></head><body><h1>Price</h1><p>12=A4 f=FCr=",
		" zwei</p><table><tr><td>a</td><td>b</td></tr></table></body></html>", "--in",
		"Content-Type: image/gif", "Content-ID: <pic@x>", "Content-Disposition: inline; filename=\"pic.gif\"",
		"Content-Transfer-Encoding: base64", "", "R0lGODlh", "--in--", "--out",
		"Content-Type: message/rfc822", "", "Subject: inner", "", "inner body", "--out--", "epilogue", "",
	}, "\r\n"))
	kept := inprocess.NewMemoryRunner(t, mail.Connector(), env(dir)).Run()
	for name, want := range map[string]any{
		"from_name": "Mära Ito", "from_address": "MARA@example.org", "subject": "Привет and more",
		"date": "2026-03-03T09:00:00Z", "thread_id": "1700000000000000001", "in_reply_to": "p@x",
		"text": "Price\n12€ für zwei\na b", "text_from_html": true, "attachment_count": 2.0, "folder": "INBOX",
		"message_id": "m@x", "malformed": nil,
	} {
		if got := field(t, kept, "maildir/1.a.host", name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if got := fmt.Sprint(field(t, kept, "maildir/1.a.host", "cc")); !strings.Contains(got, "a@example.org") ||
		!strings.Contains(got, "b@example.org") {
		t.Errorf("cc %s", got)
	}
	if got := fmt.Sprint(field(t, kept, "maildir/1.a.host", "labels")); got != "[Wichtig Öffentlich]" {
		t.Errorf("labels %s", got)
	}
	for key, want := range map[string]string{
		"maildir/1.a.host/1": `"file_name":"pic.gif","content_type":"image/gif","inline":true,"content_id":"pic@x",` +
			`"size_bytes":6,`,
		"maildir/1.a.host/2": `"content_type":"message/rfc822","size_bytes":26,`,
	} {
		if got := kept.Records["attachments"][key]; !strings.Contains(got, want) {
			t.Errorf("%s: %s", key, got)
		}
	}
}

// TestThunderbird holds that mailboxes without an ending are found, and nothing else is opened.
func TestThunderbird(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, "p.default/Mail/Local Folders/Inbox",
		"From - Mon Jan 05 10:00:00 2026\nX-Mozilla-Status: 1007\nSubject: Kept\n\nx\n")
	put(t, dir, "p.default/ImapMail/host/INBOX.msf", "// <!-- <mdb:mork:z")
	put(t, dir, "p.default/ImapMail/host/odd", "no mailbox")
	put(t, dir, "p.default/logins.json", "{}")
	kept := inprocess.NewMemoryRunner(t, mail.Connector(), map[string]string{"MAIL_THUNDERBIRD_DIR": dir}).Run()
	if len(kept.Keys("messages")) != 1 || len(kept.Gaps()) != 0 {
		t.Errorf("messages %v, gaps %v", kept.Keys("messages"), kept.Gaps())
	}
	if got := field(t, kept, kept.Keys("messages")[0], "flags"); fmt.Sprint(got) != "[flagged passed replied seen]" {
		t.Errorf("flags %v", got)
	}
	if got := kept.Records["coverage_diagnostics"]["thunderbird"]; !strings.Contains(got, `"no_mailbox":1`) ||
		!strings.Contains(got, `"files_read":2`) {
		t.Errorf("account %s", got)
	}
}
