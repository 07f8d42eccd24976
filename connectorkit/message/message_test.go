package message

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/connectorkit"
)

const bufferSize = 64 << 10

// FuzzMessage holds that no message breaks the reader, that what it makes of it is valid and
// bounded, and that the size of the buffer it passes through makes no difference.
func FuzzMessage(f *testing.F) {
	for _, seed := range []string{
		"Subject: =?utf-8?q?=C3?=\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nx\n--b\n" +
			"Content-Transfer-Encoding: base64\nContent-Type: image/png\n\nAAA=\n--b--\n",
		"From: a <b\nTo: ,,;\nDate: x\nReferences: <<>> <a> <\n\n=\n=4",
		"Content-Type: text/html; charset=utf-16\n\n\xff\xfe<p>&#0;&amp;<scr", "\n\n", ":\n : \n\t\n",
		"Content-Type: multipart/x; boundary=\"\"\n\n--\n----\n",
		"Content-Transfer-Encoding: quoted-printable\n\na=\r\nb=ZZ=0", ">From x\n\n>From y\nFrom z",
		"\n" + strings.Repeat("x", bufferSize) + ">From y\n", // in the middle of a line, where a buffer ends
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
		"<p>a <b>b</b>c</p>d": "a bc\nd", "a<br>b&amp;&nbsp;c": "a\nb& c", "<ul><li>x<li>y</ul>": "x\ny",
		"<style>no</style><script>no": "", "plain < text": "plain < text",
		"<div><div>deep</div></div>": "deep", strings.Repeat("<div>", 5000) + "x": "x", "": "",
	} {
		if got := htmlToText(page); got != want {
			t.Errorf("%.40q: %q, want %q", page, got, want)
		}
	}
}

// TestVisibleText breaks lines at every kind of block, once, and leaves out what is not shown.
func TestVisibleText(t *testing.T) {
	for _, name := range strings.Fields("p div br tr li ul ol table blockquote pre hr h1 h2 h3 h4 h5 h6 section article " +
		"header footer") {
		for _, page := range []string{"a<" + name + ">b", "a</" + name + ">b", "a<" + name + "></" + name + ">b"} {
			if got := htmlToText(page); got != "a\nb" {
				t.Errorf("%s: %q", page, got)
			}
		}
	}
	for _, name := range strings.Fields("script style head title template") {
		if got := htmlToText("a<" + name + ">b<p></" + name + ">c"); got != "ac" && got != "a\nc" {
			t.Errorf("%s: %q", name, got)
		}
	}
	for page, want := range map[string]string{
		"<tr><td>a</td><td>b</td></tr>": "a b", "<b>a</b>\n<i>b</i>": "a b", "a<i>\tb</i>": "a b", "a<i>\rb\n</i>c": "a b c",
		"a<i> </i><i> </i>b": "a b", "<p> a</p>": "a", "<noscript>a</noscript>b": "ab", "<head>a<body>b": "b",
		"a\t<i>b</i>": "a b", "a\r<i>b</i>": "a b", "a <i>b</i>": "a b", "a\n<i>b</i>": "a b", "a<i> b</i>": "a b",
		"a<i>\nb</i>": "a b",
	} {
		if got := htmlToText(page); got != want {
			t.Errorf("%q: %q, want %q", page, got, want)
		}
	}
}

// TestCharsets decodes what senders declare, also where they are wrong.
func TestCharsets(t *testing.T) {
	for _, c := range []struct{ bytes, charset, want string }{
		{"\u00e9", "", "\u00e9"}, {"\u00e9", "us-ascii", "\u00e9"}, {"\u00e9", " US-ASCII ", "\u00e9"},
		{"\xe9", "", "\u00e9"}, {"\xe9", "us-ascii", "\u00e9"}, {"\x80", "US-ASCII", "\u20ac"},
		{"a\xe9", "utf-8", "a\uFFFD"}, {"a\xe9", "UTF8", "a\uFFFD"}, {"\u00e9", "utf8", "\u00e9"},
		{"\u00e9", "x-unknown", "\u00e9"}, {"\xe9", "x-unknown", "\u00e9"}, {"\xa4", "ISO-8859-15", "\u20ac"},
	} {
		if got := decodeCharset([]byte(c.bytes), c.charset); got != c.want {
			t.Errorf("%q as %q: %q, want %q", c.bytes, c.charset, got, c.want)
		}
	}
	for value, want := range map[string]string{
		"=?iso-8859-1?q?caf=e9?= bar": "caf\u00e9 bar",
		" a\r\n\tb\x00\x7f\x1fc ":     "a   bc", "=?x?": "=?x?", "caf\xe9": "caf\u00e9",
	} {
		if got := decodeHeaderWords(value); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
}

// FuzzAttachments compares stored attachments with their records, whatever the
// message: the file has the size and the hash, or it is too large and not there.
func FuzzAttachments(f *testing.F) {
	for _, seed := range []string{
		"Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: image/png\nContent-Transfer-Encoding: base64\n\n" +
			"AAECAwQF\nAAA=\n--b\nContent-Type: a/b\n\nx\n--b--\n",
		"Content-Type: application/pdf; name=\"../x\"\nContent-Transfer-Encoding: quoted-printable\n\na=\nb=41\n",
		"Content-Type: message/rfc822\n\nContent-Type: image/gif\n\n",
		"Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Disposition: attachment\n\n" +
			strings.Repeat("long ", 40) + "\n--b\nContent-Type: image/png\n\ncut",
	} {
		f.Add([]byte(seed), true)
	}
	const limit = 100
	f.Fuzz(func(t *testing.T, content []byte, cut bool) {
		dir := t.TempDir()
		m := New(1 << 10)
		m.Files = func() (*connectorkit.BlobWriter, error) { return connectorkit.NewBlobIn(dir, limit) }
		if err := m.Read(bufio.NewReader(bytes.NewReader(content))); err != nil {
			t.Fatal(err)
		}
		if cut {
			m.MarkTruncated()
		}
		m.ID = "m"
		left, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		there := map[string]int{}
		for _, e := range left {
			kept, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			sum := sha256.Sum256(kept)
			there[fmt.Sprintf("%d %x", len(kept), sum)]++
		}
		files := 0
		for _, a := range m.KeyedAttachments() {
			name := fmt.Sprintf("%d %s", a.Size, a.Hash)
			switch a.Status {
			case HydratedContent:
				files++
				if there[name]--; there[name] < 0 || a.Blob == nil || a.Blob.SHA256 != a.Hash || a.Blob.Bytes != a.Size {
					t.Fatalf("%+v has no such file: %v", a, there)
				}
			case OversizedContent:
				if a.Blob != nil || a.Size <= limit && !cut {
					t.Fatalf("%+v", a)
				}
			default:
				t.Fatalf("%+v", a)
			}
		}
		if files != len(left) {
			t.Fatalf("%d files for %d attachments", len(left), files)
		}
		m.DiscardFiles()
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Fatalf("%d are left: %v", len(left), err)
		}
	})
}
