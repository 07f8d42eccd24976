package cli

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"
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
	text := append(p.rest, b...)
	p.rest = nil
	var out bytes.Buffer
	out.Grow(len(text))
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && n <= 1 && !utf8.FullRune(text):
			p.rest, n = bytes.Clone(text), len(text)
		case r == utf8.RuneError && n <= 1:
			out.WriteByte('?')
		case r == '\n' || r == '\t' || !obeyed(r):
			out.Write(text[:n])
		default:
			out.WriteByte(' ')
		}
		text = text[n:]
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

// obeyed finds characters that a terminal obeys instead of showing: the control codes of
// either set, line separators, and what turns the direction of writing.
func obeyed(r rune) bool {
	switch {
	case r < ' ', r >= 0x7f && r < 0xa0:
		return true
	case r == 0x061c, r == 0x200e, r == 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return true
	case r == 0xfeff, r >= 0xfff9 && r <= 0xfffb, r >= 0xe0000 && r <= 0xe007f: // unseen marks and tags
		return true
	default:
		return false
	}
}

// escaped is JSON in which the characters that a terminal obeys are spelled out. It means the
// same to whoever reads it as JSON.
func escaped(b []byte) []byte {
	if !bytes.ContainsFunc(b, func(r rune) bool { return obeyed(r) && r >= ' ' }) {
		return b
	}
	var out bytes.Buffer
	for _, r := range string(b) {
		switch {
		case r < ' ' || !obeyed(r):
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
