package mail

import (
	"bufio"
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

// FuzzMessage holds that no message breaks the reader, that what it makes of it is valid and
// bounded, and that the size of the buffer it passes through makes no difference.
func FuzzMessage(f *testing.F) {
	for _, seed := range []string{
		"Subject: =?utf-8?q?=C3?=\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nx\n--b\nContent-Transfer-Encoding: base64\nContent-Type: image/png\n\nAAA=\n--b--\n",
		"From: a <b\nTo: ,,;\nDate: x\nReferences: <<>> <a> <\n\n=\n=4", "Content-Type: text/html; charset=utf-16\n\n\xff\xfe<p>&#0;&amp;<scr", "\n\n", ":\n : \n\t\n",
		"Content-Type: multipart/x; boundary=\"\"\n\n--\n----\n", "Content-Transfer-Encoding: quoted-printable\n\na=\r\nb=ZZ=0", ">From x\n\n>From y\nFrom z",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		read := func(size int) string {
			m := newMessage(1 << 10)
			m.unquote = true
			if err := m.read(bufio.NewReaderSize(bytes.NewReader(content), size)); err != nil {
				t.Fatal(err)
			}
			m.key("mbox/")
			if m.rec.Size != int64(len(content)) || len(m.rec.Text) > 1<<10 || len(m.attachments) > maxAttachments {
				t.Fatalf("%+v", m.rec)
			}
			out, err := json.Marshal([]any{m.rec, m.attachments})
			if err != nil || !utf8.Valid(out) {
				t.Fatalf("%v: %q", err, out)
			}
			return string(out)
		}
		if a, b := read(bufferSize), read(2*bufferSize); a != b {
			t.Fatalf("%s\n%s", a, b)
		}
	})
}

func TestBegins(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"From mara@example.org Mon Jan  5 10:00:00 2026": true, "From - Mon Jan 05 10:00:00 2026": true, "From 17@xxx Mon Jan 05 10:00:00 +0000 2026\r\n": true, "From -\n": true, "From \n": true,
		"From here to 2026": false, "From: mara": false, "from mara 10:00 2026": false, ">From mara Mon Jan 5 10:00:00 2026": false, "From the boat at 10:00": false,
	} {
		if begins([]byte(line)) != want {
			t.Errorf("%q", line)
		}
	}
}

func TestReduced(t *testing.T) {
	t.Parallel()
	for page, want := range map[string]string{
		"<p>a <b>b</b>c</p>d": "a bc\nd", "a<br>b&amp;&nbsp;c": "a\nb& c", "<ul><li>x<li>y</ul>": "x\ny", "<style>no</style><script>no": "", "plain < text": "plain < text",
		"<div><div>deep</div></div>": "deep", strings.Repeat("<div>", 5000) + "x": "x", "": "",
	} {
		if got := reduced(page); got != want {
			t.Errorf("%.40q: %q, want %q", page, got, want)
		}
	}
}
