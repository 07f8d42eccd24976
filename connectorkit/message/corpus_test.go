package message

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/internal/quality/goldentest"
)

// corpus has messages that keep the rules and messages that break them, each for a rule of its own.
var corpus = []struct{ name, text string }{
	{"plain", "Message-ID: <1@example.org>\nFrom: =?utf-8?q?Mara_L=C3=B6w?= <mara@example.org>\n" +
		"To: Ida <ida@example.org>, b@example.org\n" +
		"Cc: c@example.org\nBcc: d@example.org\nReply-To: e@example.org\nDate: Mon, 2 Mar 2026 10:00:00 +0100\n" +
		"Subject: =?iso-8859-1?q?caf=E9?=\n\there\n" +
		"List-Id: Garden <garden.example.org>\n\nHello\r\nthere\n"},
	{"thread by references", "Message-ID: <3@x>\nReferences: <1@x> <2@x> <1@x> <>\n <4@x> <unended\n" +
		"In-Reply-To: a mail <2@x>\n\n"},
	{"thread by reply", "Message-ID: <2@x>\nIn-Reply-To: <1@x> <0@x>\n\n"},
	{"thread of Gmail", "Message-ID: <2@x>\nX-GM-THRID: 17\nIn-Reply-To: <1@x>\n" +
		"X-Gmail-Labels: Inbox,\"Garden, \" , =?utf-8?q?=C3=BC?=,Inbox,\n\n"},
	{"addresses that break the rules", "From: \"Mara <mara@example.org\n" +
		"To: Ida, ida@example.org, <c@example.org> x, 'Pia' <pia@example.org>,,\nCc: undisclosed:;\n\n"},
	{"flags", "Status: RO\nX-Status: AFDT\n\n"},
	{"flags of Thunderbird", "X-Mozilla-Status: 100F\nStatus: R\n\n"},
	{"no flags of Thunderbird", "X-Mozilla-Status: 1000F\n\n"},
	{"dates out of bounds", "Date: Mon, 2 Mar 0000 10:00:00 +0100\n\n"}, {"no date", "Date: soon\n\n"},
	{"head that breaks the rules", "no colon\nTwo Words: x\n: y\n" +
		"Subject : spaced\n" + strings.Repeat("n", 101) + ": z\n\nbody\n"},
	{"only a head", "Subject: a"}, {"nothing", ""}, {"only a body", "\nbody"},
	{"alternative", "Content-Type: multipart/alternative; boundary=\"b\"\n\npreamble\n--b\n\nplain\n\n--b\n" +
		"Content-Type: text/html\n\n<p>page</p>\n--b--\nepilogue\n"},
	{"page", "Content-Type: text/html; charset=windows-1252\n\n" +
		"<title>no</title><p>caf\xe9 <b>x</b><table><tr><td>1<td>2</table><noscript>n</noscript>\n"},
	{"charsets", "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain; charset=utf-8\n\n\xff\n" +
		"--b\nContent-Type: text/plain; charset=none\n\n\xe9\n" +
		"--b\nContent-Type: text/plain; charset=iso-8859-15\n\n\xa4\n--b\nContent-Type: text/plain; charset=us-ascii\n\n" +
		"\x80\n--b--\n"},
	{"attachments", "Message-ID: <a@x>\nDate: Mon, 2 Mar 2026 10:00:00 +0100\n" +
		"Content-Type: multipart/mixed; boundary=b\n\n--b\n\ntext\n--b  \n" +
		"Content-Type: image/png; name=\"=?utf-8?q?=C3=BC.png?=\"\nContent-Transfer-Encoding: base64\n" +
		"Content-ID: <cid@x>\nContent-Disposition: inline\n\nAAEC\nAw==ignored\n" +
		"--b\nContent-Type: text/plain; name=a.txt\nContent-Disposition: attachment; filename=b.txt\n\none\ntwo\n--b\n" +
		"Content-Type: text/plain; name=note.txt\n\nnamed\n" +
		"--b\nContent-Type: text/plain; name=in.txt\nContent-Disposition: inline\n\nshown\n--b\n" +
		"Content-Type: application/x-large\n\n" + strings.Repeat("long ", 30) + "\n--b--\n"},
	{"base64 in pieces", "Content-Type: a/b\nContent-Transfer-Encoding: BASE64 \n\nA A\nE!C\nA+/z\n09Z\n"},
	{"quoted-printable", "Content-Transfer-Encoding: quoted-printable\n\na=3D=c3=A9 =\nb \t\n=Z1=4=\n=\n last=3"},
	{"nested", "Content-Type: multipart/mixed; boundary=o\n\n--o\nContent-Type: multipart/alternative; boundary=i\n\n" +
		"--i\n\ninner\n--o\n\nouter\n--i--\n--o--\n"},
	{"boundary in a head", "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: a/b\n--b\n\nx\n--b-\n"},
	{"parameters that break the rules", "Content-Type: multipart/mixed; Boundary = b; x\n\n--b\n" +
		"Content-Disposition: attachment; filename=a b.txt;\n\nx\n--b--\n"},
	{"message in a message", "Content-Type: message/rfc822\n\nSubject: inner\n\nx\n"},
	{"quoted From", "Subject: a\n\n>From x\n>>From y\n> From z\n>Fromage\n"},
	{"text that is cut", "\n" + strings.Repeat("word ", 60)},
	{"page that is cut", "Content-Type: text/html\n\n" + strings.Repeat("<p>word</p>", 90)},
}

// TestCorpus compares all that is read of each message, whole and cut off, with testdata/messages.txt.
func TestCorpus(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	for _, c := range corpus {
		m := New(200)
		m.Unquote = true
		dir := t.TempDir()
		m.Files = func() (*connectorkit.BlobWriter, error) { return connectorkit.NewBlobIn(dir, 100) }
		if err := m.Read(bufio.NewReader(bytes.NewReader([]byte(c.text)))); err != nil {
			t.Fatal(err)
		}
		m.Identify("mbox/")
		whole := show(t, m.Record, m.KeyedAttachments())
		m.MarkTruncated()
		fmt.Fprintf(&out, "# %s\n%s\n", c.name, whole)
		if cut := show(t, m.Record, m.KeyedAttachments()); cut != whole {
			fmt.Fprintf(&out, "cut off: %s\n", cut)
		}
		head, broken := ReadHead([]byte(c.text))
		if got := show(t, head); got != show(t, m.Head) {
			t.Errorf("%s: the head alone is %s", c.name, got)
		}
		if broken && !m.Malformed {
			t.Errorf("%s: only the head alone is broken", c.name)
		}
	}
	goldentest.Hold(t, "messages.txt", out.String())
}

func show(t *testing.T, values ...any) string {
	t.Helper()
	body, err := json.Marshal(values, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
