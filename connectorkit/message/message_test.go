package message

import (
	"bufio"
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

const bufferSize = 64 << 10

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
			m := New(1 << 10)
			m.Unquote = true
			if err := m.Read(bufio.NewReaderSize(bytes.NewReader(content), size)); err != nil {
				t.Fatal(err)
			}
			m.Identify("mbox/")
			if m.Size != int64(len(content)) || len(m.Text) > 1<<10 || len(m.Parts) > maxAttachments {
				t.Fatalf("%+v", m.Record)
			}
			out, err := json.Marshal([]any{m.Record, m.Parts})
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
