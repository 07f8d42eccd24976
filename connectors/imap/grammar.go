package imap

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/pdpp-go/pdpp/connectorkit"
)

var errGrammar = errors.New("the server breaks the grammar")

// errCut is a connection that ended within a literal, which has said how long it is.
var errCut = errors.New("the connection ended within a literal")

// parser reads what a server says. Strings are bounded, and bodies pass through.
type parser struct {
	r *bufio.Reader
	// bodyLimit is how much text of a body is kept, and bodyBytes where it was cut.
	bodyLimit int
	bodyBytes int64
	// files begins a file for what came with a body; nil where nobody asks for it.
	files func() (*connectorkit.BlobWriter, error)
	// first is the answer while its first message is read; nil for the others.
	first *answer
}

func (p *parser) byte() (byte, error) { return p.r.ReadByte() }

func (p *parser) peek() (byte, error) {
	b, err := p.r.Peek(1)
	if err != nil {
		return 0, err
	}
	return b[0], nil
}

func (p *parser) expect(c byte) error {
	got, err := p.byte()
	if err == nil && got != c {
		err = errGrammar
	}
	return err
}

// skip passes over a byte if it is next.
func (p *parser) skip(c byte) bool {
	got, err := p.peek()
	if err == nil && got == c {
		_, _ = p.byte()
		return true
	}
	return false
}

// line reads the rest of a line as text.
func (p *parser) line() (string, error) {
	var b []byte
	for {
		piece, err := p.r.ReadSlice('\n')
		if len(b)+len(piece) <= maxLine {
			b = append(b, piece...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return strings.TrimRight(string(b), "\r\n"), err
	}
}

// rest passes over the rest of an answer, literals included.
func (p *parser) rest() error {
	for {
		line, err := p.line()
		if err != nil {
			return err
		}
		n, ok := literalSize(line)
		if !ok {
			return nil
		}
		if _, err := io.CopyN(io.Discard, p.r, n); err != nil {
			return err
		}
	}
}

func literalSize(line string) (int64, bool) {
	open := strings.LastIndexByte(line, '{')
	if open < 0 || !strings.HasSuffix(line, "}") {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSuffix(line[open+1:len(line)-1], "+"), 10, 63)
	return n, err == nil && n >= 0
}

// word reads up to a space, a parenthesis or the end of a line; what is in brackets belongs to it.
func (p *parser) word() (string, error) {
	var b []byte
	depth := 0
	for {
		c, err := p.peek()
		if err != nil {
			return "", err
		}
		if c == '\r' || c == '\n' || depth == 0 && (c == ' ' || c == ')' || c == '(') {
			break
		}
		switch c {
		case '[':
			depth++
		case ']':
			depth--
		}
		_, _ = p.byte()
		if b = append(b, c); len(b) > maxLine {
			return "", errGrammar
		}
	}
	return string(b), nil
}

func (p *parser) number() (uint64, error) {
	w, err := p.word()
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(w, 10, 64)
	if err != nil {
		return 0, errGrammar
	}
	return n, nil
}

func (p *parser) uid() (uint32, error) {
	n, err := p.number()
	if err == nil && (n == 0 || n > 1<<32-1) {
		err = errGrammar
	}
	return uint32(n), err
}

// set reads a set of UIDs as it comes, however long it is.
func (p *parser) set() (uids, error) {
	var out uids
	for {
		var ends [2]uint64
		for i := range ends {
			digits := 0
			for {
				c, err := p.peek()
				if err != nil {
					return nil, err
				}
				if c < '0' || c > '9' {
					break
				}
				_, _ = p.byte()
				if ends[i] = ends[i]*10 + uint64(c-'0'); ends[i] > 1<<32-1 {
					return nil, errGrammar
				}
				digits++
			}
			if digits == 0 || ends[i] == 0 {
				return nil, errGrammar
			}
			if i == 0 && !p.skip(':') {
				ends[1] = ends[0]
				break
			}
		}
		if out = out.add(uint32(ends[0]), uint32(ends[1])); len(out) > maxSpans {
			return nil, errGrammar
		}
		if !p.skip(',') {
			return out, nil
		}
	}
}

// value reads a string, an atom, or a list of them; NIL is nil.
func (p *parser) value(depth int) (any, error) {
	c, err := p.peek()
	switch {
	case err != nil:
		return nil, err
	case c == '(':
		_, _ = p.byte()
		var list []any
		for {
			if p.skip(')') {
				return list, nil
			}
			if depth == 0 || len(list) > maxList {
				return nil, errGrammar
			}
			v, err := p.value(depth - 1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
			p.skip(' ')
		}
	case c == '"' || c == '{':
		b, err := p.bytes(maxString)
		return string(b), err
	}
	w, err := p.word()
	switch {
	case err != nil:
		return nil, err
	case w == "":
		return nil, errGrammar
	case strings.EqualFold(w, "NIL"):
		return nil, nil
	}
	return w, nil
}

// open gives the content of a string as a reader, which is read to its end before anything else.
func (p *parser) open() (io.Reader, error) {
	c, err := p.peek()
	if err != nil {
		return nil, err
	}
	switch c {
	case '{':
		line, err := p.line()
		if err != nil {
			return nil, err
		}
		n, ok := literalSize(line)
		if !ok {
			return nil, errGrammar
		}
		return &exactly{r: p.r, left: n}, nil
	case '"':
		b, err := p.quoted()
		return bytes.NewReader(b), err
	}
	w, err := p.word()
	if err == nil && !strings.EqualFold(w, "NIL") {
		err = errGrammar
	}
	return bytes.NewReader(nil), err
}

// exactly reads so many bytes; an earlier end is an error.
type exactly struct {
	r    io.Reader
	left int64
}

func (e *exactly) Read(b []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n, err := e.r.Read(b[:min(int64(len(b)), e.left)])
	e.left -= int64(n)
	if errors.Is(err, io.EOF) {
		err = errCut
	}
	return n, err
}

func (p *parser) quoted() ([]byte, error) {
	if err := p.expect('"'); err != nil {
		return nil, err
	}
	var b []byte
	for {
		c, err := p.byte()
		switch {
		case err != nil:
			return nil, err
		case c == '"':
			return b, nil
		case c == '\r' || c == '\n':
			return nil, errGrammar
		case c == '\\':
			if c, err = p.byte(); err != nil {
				return nil, err
			}
		}
		if b = append(b, c); len(b) > maxString {
			return nil, errGrammar
		}
	}
}

// bytes reads a string of which the beginning is kept.
func (p *parser) bytes(limit int64) ([]byte, error) {
	r, err := p.open()
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(r, limit))
	if err == nil {
		_, err = io.Copy(io.Discard, r)
	}
	return b, err
}

// words are the texts of a list.
func words(v any) []string {
	list, _ := v.([]any)
	out := make([]string, 0, len(list))
	for _, w := range list {
		if text, ok := w.(string); ok {
			out = append(out, text)
		}
	}
	return out
}
