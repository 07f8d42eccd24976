package imap

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor"
)

// heard parses a complete server answer.
func heard(text string) (a *serverAnswer, got []*fetchedMessage, err error) {
	a = &serverAnswer{}
	p := &responseParser{r: bufio.NewReader(strings.NewReader(text)), bodyLimit: 1 << 10, bodyBytes: 1 << 20}
	for {
		_, err := p.readResponse(a, func(m *fetchedMessage) error { got = append(got, m); return nil })
		if errors.Is(err, io.EOF) {
			return a, got, nil
		}
		if err != nil {
			return a, got, err
		}
	}
}

func TestAnswersAreRead(t *testing.T) {
	t.Parallel()
	a, got, err := heard("* OK [UIDVALIDITY 11] ok\r\n* OK [UIDNEXT 2345]\r\n* OK [HIGHESTMODSEQ 998877] yes\r\n" +
		"* 12 EXISTS\r\n* FLAGS (\\Seen)\r\n" +
		"* LIST (\\All \\HasNoChildren) \"/\" \"[Gmail]/All Mail\"\r\n* LIST () NIL {5}\r\na\"b c\r\n* STATUS {3}\r\n" +
		"x y (MESSAGES 3 UIDNEXT 9 UIDVALIDITY 8 HIGHESTMODSEQ 7)\r\n" +
		"* SEARCH 4 2 3 (MODSEQ 9)\r\n* ESEARCH (TAG \"p1\") UID COUNT 3 ALL 7:9,12\r\n* VANISHED (EARLIER) 41,43:116\r\n" +
		"* VANISHED 5\r\n* 3 EXPUNGE\r\n" +
		"* 5 FETCH (X-GM-LABELS (\\Inbox \"\\\\Sent\" \"Muy Importante\" &AOk-t) X-GM-MSGID 1278455344230334865 X-GM-THRID " +
		"7 UID 9 FLAGS (\\Seen work) INTERNALDATE \" 1-Mar-2026 08:00:00 +0100\" RFC822.SIZE 44 MODSEQ (12) " +
		"BODY[HEADER.FIELDS (DATE)] {9}\r\nDate: x\r\n ENVELOPE (\"a\" NIL ((\"b\" NIL {1}\r\nc \"d\"))))\r\n" +
		"* 6 FETCH (BODY[]<0> {13}\r\nSubject: y\r\n\r UID 10)\r\n* 7 FETCH (FLAGS () UID 11)\r\n* 8 FETCH (FLAGS ())\r\n" +
		"p1 NO [OVERQUOTA some] Account exceeded\r\n")
	if err != nil {
		t.Fatal(err)
	}
	if a.validity != 11 || a.uidNext != 2345 || a.modseq != 998877 || a.exists != 12 || a.status != "NO" ||
		a.code != "OVERQUOTA" {
		t.Errorf("%+v", a)
	}
	if a.found.String() != "2:4,7:9,12" || a.vanished.String() != "41,43:116" || a.changed.String() != "11" {
		t.Errorf("sets %s, %s, %s", a.found, a.vanished, a.changed)
	}
	if len(a.folders) != 2 || a.folders[0].raw != "[Gmail]/All Mail" || a.folders[1].raw != `a"b c` ||
		a.status2["x y"] != (folderStatus{3, 9, 8, 7}) {
		t.Errorf("%+v %+v", a.folders, a.status2)
	}
	if len(got) != 3 || got[0].uid != 9 || string(got[0].head) != "Date: x\r\n" || got[0].size != 44 || got[1].uid != 10 ||
		got[1].body.Subject != "y" {
		t.Fatalf("%+v", got)
	}
	if labels := gmailLabels(got[0].labels); !slices.Equal(labels, []string{"Inbox", "Muy Importante", "Sent", "ét"}) {
		t.Errorf("labels %q", labels)
	}
	if internalDate(got[0].date) != "2026-03-01T07:00:00Z" || internalDate("nonsense") != "1970-01-01T00:00:00Z" {
		t.Errorf("received %q", internalDate(got[0].date))
	}
}

func TestNonsenseIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"* 1 FETCH (UID nonsense)\r\n", "* 1 FETCH (UID 0)\r\n", "* 1 FETCH (FLAGS 7)\r\n", "* 1 FETCH UID 1\r\n",
		"<!doctype html>\r\n", "\r\n", "p1 MAYBE\r\n", "* SEARCH a\r\n",
		"* ESEARCH UID ALL 0:3\r\n", "* VANISHED (EARLIER) 99999999999\r\n", "* LIST (\r\n", "* STATUS a (MESSAGES x)\r\n",
		"* 1 FETCH (UID 1 BODY[] 7)\r\n", "* 1 FETCH (X " + strings.Repeat("(", 100) + "\r\n",
	} {
		if _, _, err := heard(text); !errors.Is(err, errGrammar) {
			t.Errorf("%.40q: %v", text, err)
		}
	}
	_, _, err := heard("* 1 FETCH (UID 1 BODY[] {10}\r\n012")
	if !errors.Is(err, errTruncatedLiteral) {
		t.Errorf("a literal that was cut: %v", err)
	}
	var e *connectorkit.Error
	if o, err := classifyConnection(err); o.Kind != governor.Failed || !errors.As(err, &e) ||
		e.Class != connectorkit.Unavailable {
		t.Errorf("a literal that was cut is no lost connection: %v %v", o.Kind, err)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]struct {
		command string
		kind    governor.Kind
		class   connectorkit.Class
	}{
		"NO [AUTHENTICATIONFAILED] Invalid credentials (Failure)": {authenticateCommand,
			governor.Rejected, connectorkit.Unauthorized},
		"NO [ALERT] Application-specific password required: https://support.example (Failure)": {authenticateCommand,
			governor.Rejected, connectorkit.Unauthorized},
		"NO [ALERT] Too many simultaneous connections. (Failure)": {authenticateCommand,
			governor.Throttled, connectorkit.RateLimited},
		"NO [LIMIT] Maximum number of connections from user+IP exceeded (mail_max_userip_connections=1)": {authenticateCommand,
			governor.Throttled, connectorkit.RateLimited},
		"NO [UNAVAILABLE] Temporary authentication failure.": {authenticateCommand,
			governor.Failed, connectorkit.Unavailable},
		"NO [OVERQUOTA] Account exceeded command or bandwidth limits. (Failure)": {"FETCH",
			governor.Throttled, connectorkit.RateLimited},
		"NO [INUSE] Mailbox in use":        {"EXAMINE", governor.Failed, connectorkit.Unavailable},
		"NO [THROTTLED] slow":              {"FETCH", governor.Throttled, connectorkit.RateLimited},
		"NO System Error (Failure)":        {"FETCH", governor.Rejected, connectorkit.Unavailable},
		"NO [NONEXISTENT] Unknown Mailbox": {"EXAMINE", governor.Rejected, connectorkit.NotFound},
		"NO [NOPERM] Permission denied":    {"EXAMINE", governor.Rejected, connectorkit.Forbidden},
		"BAD Unknown command":              {"FETCH", governor.Rejected, connectorkit.Malformed},
		"BYE [OVERQUOTA] Account exceeded": {"FETCH", governor.Throttled, connectorkit.RateLimited},
		"BYE System Error":                 {"FETCH", governor.Failed, connectorkit.Unavailable},
	} {
		a := &serverAnswer{}
		if err := a.readTaggedStatus(line); err != nil {
			t.Fatal(err)
		}
		kind, err := classifyAnswer(want.command, a)
		var e *connectorkit.Error
		if !errors.As(err, &e) || kind != want.kind || e.Class != want.class {
			t.Errorf("%s: %v %v", line, kind, err)
		}
		if strings.Contains(err.Error(), "Failure") || strings.Contains(err.Error(), "Mailbox") {
			t.Errorf("%s: the server's words are passed on: %v", line, err)
		}
	}
	if kind, err := classifyAnswer("LIST", &serverAnswer{status: "OK"}); kind != governor.Success || err != nil {
		t.Errorf("OK: %v %v", kind, err)
	}
}

func TestFolderNames(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"INBOX": "INBOX", "Gr&APwA3w-e": "Grüße", "a&-b": "a&b", "&2D3eAA-": "😀", "&": "&", "&!!-": "&!!-", "&AA-": "&AA-",
		"\xff": "\uFFFD", "~peter/mail/&U,BTFw-/&ZeVnLIqe-": "~peter/mail/台北/日本語",
	} {
		if got := folderName(raw); got != want {
			t.Errorf("%q: %q, want %q", raw, got, want)
		}
	}
}

func TestProfiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ user, server, how, want string }{
		{"mara@gmail.com", "", "", "gmail imap.gmail.com:993 tls"},
		{"Mara@Me.com ", "", "", "icloud imap.mail.me.com:993 tls"},
		{"mara@own.example", "imap.gmail.com", "", "gmail imap.gmail.com:993 tls"},
		{"mara@own.example", "mail.own.example", "", "other mail.own.example:993 tls"},
		{"mara@own.example", "mail.own.example", "starttls", "other mail.own.example:143 starttls"},
		{"m", "127.0.0.1:1143", "none", "other 127.0.0.1:1143 none"},
		{"m", "::1", "none", "other [::1]:143 none"},
		{"mara@own.example", "", "", "refused"}, {"m", "mail.own.example", "none", "refused"},
		{"m", "mail.own.example", "ssl", "refused"},
	} {
		p, err := findProfile(c.user, c.server, c.how)
		got := p.name + " " + p.address + " " + string(p.security)
		if err != nil {
			got = "refused"
		}
		if got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// FuzzAnswer checks that no server output breaks the parser, blocks it, or makes it keep more than its bounds.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte("* 1 FETCH (UID 1 FLAGS (\\Seen) BODY[] {3}\r\nabc X-GM-LABELS (a \"b\") BODYSTRUCTURE ((\"a\" NIL) " +
		"7))\r\np1 OK\r\n"))
	f.Add([]byte("* LIST (\\All) \"/\" {3}\r\na&b\r\n* STATUS x (MESSAGES 1)\r\n" +
		"* ESEARCH (TAG \"a\") UID ALL 1:4294967295\r\n* SEARCH 1 2\r\n* VANISHED (EARLIER) 1:3\r\n+ go\r\n* BYE [X]\r\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		p := &responseParser{r: bufio.NewReader(bytes.NewReader(content)), bodyLimit: 1 << 10, bodyBytes: 1 << 20}
		a := &serverAnswer{}
		for {
			_, err := p.readResponse(a, func(m *fetchedMessage) error {
				if m.uid == 0 || len(m.head) > maxHeaderBytes || m.body != nil && len(m.body.Text) > 1<<10 {
					t.Fatalf("%+v", m)
				}
				headRecord("INBOX", 1, m)
				gmailLabels(m.labels)
				return nil
			})
			if err != nil {
				break
			}
		}
		for _, l := range a.folders {
			if in := folderFromListed(l); in != nil {
				in.toRecord()
				if strings.ContainsAny(in.raw, "\r\n\x00") {
					t.Fatalf("a name that ends a command: %q", in.raw)
				}
			}
		}
	})
}
