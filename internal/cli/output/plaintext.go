package output

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/pdpp-go/pdpp/internal/ops/text"
)

// PlainText is an output stream that contains only text, line breaks and tabs. Names, messages and records come from
// others, and a terminal would execute control codes in them.
type PlainText struct {
	Writer     io.Writer
	incomplete []byte // the start of a character that is not complete yet
}

// Write replaces control characters. It returns the length of b unless the stream fails.
func (p *PlainText) Write(b []byte) (int, error) {
	all := append(p.incomplete, b...)
	p.incomplete = nil
	var out bytes.Buffer
	out.Grow(len(all))
	for len(all) > 0 {
		r, n := utf8.DecodeRune(all)
		switch {
		case r == utf8.RuneError && n <= 1 && !utf8.FullRune(all):
			p.incomplete, n = bytes.Clone(all), len(all)
		case r == utf8.RuneError && n <= 1:
			out.WriteByte('?')
		case r == '\n' || r == '\t' || !text.Obeyed(r):
			out.Write(all[:n])
		default:
			out.WriteByte(' ')
		}
		all = all[n:]
	}
	if _, err := p.Writer.Write(out.Bytes()); err != nil {
		return 0, err
	}
	return len(b), nil
}

// ExactWriter returns the unfiltered stream for data that a program reads. A terminal stays filtered.
func ExactWriter(w io.Writer) io.Writer {
	p, ok := w.(*PlainText)
	if _, isTerminal := TerminalFile(w); !ok || isTerminal {
		return w
	}
	return p.Writer
}

// RawWriter returns the unfiltered stream, for this program's own control codes.
func RawWriter(w io.Writer) io.Writer {
	if p, ok := w.(*PlainText); ok {
		return p.Writer
	}
	return w
}

// escapeControlCharacters escapes characters in JSON that a terminal would execute. The JSON value stays the same.
func escapeControlCharacters(b []byte) []byte {
	if !bytes.ContainsFunc(b, func(r rune) bool { return text.Obeyed(r) && r >= ' ' }) {
		return b
	}
	var out bytes.Buffer
	for _, r := range string(b) {
		switch {
		case r < ' ' || !text.Obeyed(r):
			out.WriteRune(r)
		case r > 0xffff:
			high, low := (r-0x10000)>>10+0xd800, (r-0x10000)&0x3ff+0xdc00
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.Bytes()
}
