package cli

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/pdpp-go/pdpp/internal/ops/text"
)

// plainText is a stream of the program on which nothing but text, line breaks and tabs comes
// out. Names, messages and records are other people's words: a terminal would obey the control
// codes in them, and show them in an order that they choose.
type plainText struct {
	w    io.Writer
	rest []byte // the beginning of a character whose end has not been written yet
}

// Write gives the length of b unless the stream is gone.
func (p *plainText) Write(b []byte) (int, error) {
	all := append(p.rest, b...)
	p.rest = nil
	var out bytes.Buffer
	out.Grow(len(all))
	for len(all) > 0 {
		r, n := utf8.DecodeRune(all)
		switch {
		case r == utf8.RuneError && n <= 1 && !utf8.FullRune(all):
			p.rest, n = bytes.Clone(all), len(all)
		case r == utf8.RuneError && n <= 1:
			out.WriteByte('?')
		case r == '\n' || r == '\t' || !text.Obeyed(r):
			out.Write(all[:n])
		default:
			out.WriteByte(' ')
		}
		all = all[n:]
	}
	if _, err := p.w.Write(out.Bytes()); err != nil {
		return 0, err
	}
	return len(b), nil
}

// exact is the stream as it is, for what a program reads: data goes out byte for byte, unless
// the reader is a terminal.
func exact(w io.Writer) io.Writer {
	p, ok := w.(*plainText)
	if _, isTerminal := terminal(w); !ok || isTerminal {
		return w
	}
	return p.w
}

// behind is the stream as it is, for control codes of our own.
func behind(w io.Writer) io.Writer {
	if p, ok := w.(*plainText); ok {
		return p.w
	}
	return w
}

// escaped is JSON in which the characters that a terminal obeys are spelled out. It means the
// same to whoever reads it as JSON.
func escaped(b []byte) []byte {
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
