package imessage

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/providersim/files"
)

// described are bodies as public descriptions of the form print them.
var described = map[string]string{
	"hi": "040b73747265616d747970656481e803840140848484124e5341747472696275746564537472696e67008484084e534f626a6563740" +
		"08592848484084e53537472696e67019484012b" +
		"02686986840269490102928484840c4e5344696374696f6e617279009484016901928496961d5f5f6b494d4d657373616765506172744174" +
		"747269627574654e616d658692848484084e" +
		"534e756d626572008484074e5356616c7565009484012a84999900868686",
	"Yes": "040b73747265616d747970656481e803840140848484124e5341747472696275746564537472696e67008484084e534f626a656374" +
		"008592848484084e53537472696e67019484012b" +
		"0359657386840269490103928484840c4e5344696374696f6e617279009484016901928496961d5f5f6b494d4d6573736167655061727441" +
		"74747269627574654e616d65869284848408" +
		"4e534e756d626572008484074e5356616c7565009484012a84999900868686",
}

// TestDescribedBodies holds decoder and encoder against what others print.
func TestDescribedBodies(t *testing.T) {
	t.Parallel()
	for text, form := range described {
		body, err := hex.DecodeString(form)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := attributedText(body); err != nil || got != text {
			t.Errorf("%q: %v", got, err)
		}
		if made := files.Body(text, false); !bytes.Equal(made, body) {
			t.Errorf("%q is encoded otherwise:\n%x\n%x", text, made, body)
		}
	}
}

// TestBodiesOfAnyText holds that every text comes back whole, whatever its length.
func TestBodiesOfAnyText(t *testing.T) {
	t.Parallel()
	check := func(t interface{ Fatalf(string, ...any) }, text string, mutable bool) {
		if got, err := attributedText(files.Body(text, mutable)); err != nil || got != text {
			t.Fatalf("%d bytes came back as %d: %v", len(text), len(got), err)
		}
	}
	for _, n := range []int{0, 1, 0x7f, 0x80, 0x81, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x10000, 1 << 20} {
		check(t, strings.Repeat("a", n), n%2 == 0)
		check(t, strings.Repeat("+NSString\u0084\u0086", n/13), n%2 == 0)
	}
	rapid.Check(t, func(t *rapid.T) { check(t, rapid.String().Draw(t, "text"), rapid.Bool().Draw(t, "mutable")) })
}

// FuzzBody checks that the decoder reports every invalid body as an error, and that a text is never longer than its
// input.
func FuzzBody(f *testing.F) {
	f.Add(files.Body("hello", true))
	f.Add(files.Body(strings.Repeat("long ", 9000), false))
	f.Add([]byte("\x04\x0bstreamtyped\x81\xe8\x03\x84\x01@\x84\x84\x84\x08NSString\x01\x85\x84\x01+\x82\xff\xff\xff\xff"))
	f.Add([]byte("NSString\x01\x94\x84\x01+\x03abc"))
	f.Fuzz(func(t *testing.T, body []byte) {
		text, err := attributedText(body)
		if err != nil && text != "" || len(text) > 3*len(body) {
			t.Errorf("%d bytes from %d: %v", len(text), len(body), err)
		}
	})
}

// TestSummaries holds that a property list of any values comes back as it was.
func TestSummaries(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.String(), 1, 20).Draw(t, "texts")
		taken := rapid.SliceOfN(rapid.Just(any(0)), 0, 3).Draw(t, "taken")
		versions := []any{}
		for _, text := range texts {
			versions = append(versions, map[string]any{"d": 1.5, "t": files.Body(text, false)})
		}
		s := readSummary(files.Plist(map[string]any{"ec": map[string]any{"0": versions}, "rp": taken, "été": "名前", "n": 7}))
		if s.text != texts[len(texts)-1] || s.taken != (len(taken) > 0) {
			t.Fatalf("%+v", s)
		}
	})
}

// FuzzSummary holds that no property list makes the reader fail.
func FuzzSummary(f *testing.F) {
	f.Add(files.Plist(map[string]any{"ec": map[string]any{"0": []any{map[string]any{"t": files.Body("x", false),
		"d": 2.0}}}, "rp": []any{0, 1}}))
	f.Add([]byte("bplist00\xa2\x01\x01\x08\x00\x00\x00\x00\x00\x00\x01\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00" +
		"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x0b"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if s := readSummary(data); len(s.text) > 1<<20+10*len(data)*plistValues {
			t.Errorf("%d bytes of text", len(s.text))
		}
	})
}
