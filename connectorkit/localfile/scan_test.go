package localfile

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// walker is what both readers of JSON do.
type walker interface {
	Kind() jsontext.Kind
	Object(member func(name []byte) error) error
	Array(item func() error) error
	Skip() error
	Raw() (jsontext.Value, error)
	End() error
}

// told is a value as a walk meets it: names and texts as they stand, what lies deep as a whole or not
// at all.
func told(w walker, depth int, into *strings.Builder) error {
	kind := w.Kind()
	into.WriteByte(byte(kind))
	switch {
	case depth == 3:
		return w.Skip()
	case depth == 2 || kind != '{' && kind != '[':
		raw, err := w.Raw()
		into.Write(raw)
		return err
	case kind == '{':
		return w.Object(func(name []byte) error {
			into.WriteString("<" + string(name) + ">")
			return told(w, depth+1+len(name)%2, into)
		})
	}
	return w.Array(func() error { return told(w, depth+1, into) })
}

// peer walks by the library.
type peer struct{ dec *jsontext.Decoder }

func (p peer) Kind() jsontext.Kind { return p.dec.PeekKind() }

func (p peer) Object(member func(name []byte) error) error {
	if _, err := p.dec.ReadToken(); err != nil {
		return err
	}
	for p.dec.PeekKind() != '}' {
		name, err := p.dec.ReadValue()
		if err != nil {
			return err
		}
		if err := member(bytes.Clone(name[1 : len(name)-1])); err != nil {
			return err
		}
	}
	_, err := p.dec.ReadToken()
	return err
}

func (p peer) Array(item func() error) error {
	if _, err := p.dec.ReadToken(); err != nil {
		return err
	}
	for p.dec.PeekKind() != ']' {
		if err := item(); err != nil {
			return err
		}
	}
	_, err := p.dec.ReadToken()
	return err
}

func (p peer) Skip() error { return p.dec.SkipValue() }

func (p peer) Raw() (jsontext.Value, error) { return p.dec.ReadValue() }

func (p peer) End() error {
	if _, err := p.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return ErrValueKind
	}
	return nil
}

// FuzzScan holds that JSON is read as the library reads it, and that what is none for it is none.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{
		`{"a":1,"b":[true,false,null,-0.5e+10],"c":{"d":{"e":"\u00e4\n"}}}`, " [ ] ", `{"a":{"b":01}}`, `[1,]`, `{"a":1,}`,
		`{"a"}`, `{,}`, `[1 2]`, `{"a":1 "b":2}`, `"\x"`, `"\ud83d"`, `"\u00g0"`,
		"\"a\x1fb\"", "\"a\xff\"", `tru`, `truex`, `-`, `1.`, `1e`, `.5`, `00`, `{"a":1}{}`, `[[[[[[{"a":[{"b":1}]}]]]]]]`,
		`[nul]`, "", "\x00", "1\x00", `{"long":"` + strings.Repeat("plain words, ", 9) + `\"","ab":[{"c":[1,{"d":2}]}]}`,
		strings.Repeat("[", 200) + strings.Repeat("]", 200),
	} {
		f.Add([]byte(seed))
	}
	var s JSONScanner
	f.Fuzz(func(t *testing.T, value []byte) {
		var own, other strings.Builder
		s.Start(value)
		err := told(&s, 0, &own)
		if err == nil {
			err = s.End()
		}
		p := peer{jsontext.NewDecoder(bytes.NewReader(value), jsontext.AllowInvalidUTF8(true),
			jsontext.AllowDuplicateNames(true))}
		want := told(p, 0, &other)
		if want == nil {
			want = p.End()
		}
		if (err == nil) != (want == nil) {
			t.Fatalf("%q: %v, and the library says %v", value, err, want)
		}
		if err == nil && own.String() != other.String() {
			t.Fatalf("%q is read as %q, and by the library as %q", value, &own, &other)
		}
	})
}

// TestScanDepth holds that what lies too deep ends the line, not the program.
func TestScanDepth(t *testing.T) {
	t.Parallel()
	var s JSONScanner
	for depth, good := range map[int]bool{10_000: true, 10_001: false, 1 << 20: false} {
		s.Start([]byte(strings.Repeat("[", depth) + strings.Repeat("]", depth)))
		if err := s.Skip(); (err == nil) != good {
			t.Errorf("%d deep: %v", depth, err)
		}
	}
}

// TestScanText holds that a text is the one at the place, whatever was read before.
func TestScanText(t *testing.T) {
	t.Parallel()
	var s JSONScanner
	for range 2 {
		for _, c := range [][2]string{{`"plain"`, "plain"}, {`"pl\\u0061in"`, `pl\u0061in`}, {`"pl\u0061in"`, "plain"},
			{`"a\\\\b"`, `a\\b`}, {`"a\\b"`, `a\b`}, {"\"a\xffbcd\"", "a\uFFFDbcd"}, {`""`, ""}, {`17`, ""}} {
			s.Start([]byte(c[0]))
			if got, err := s.Text(); got != c[1] || err != nil {
				t.Errorf("%s reads as %q, want %q (%v)", c[0], got, c[1], err)
			}
		}
	}
}
