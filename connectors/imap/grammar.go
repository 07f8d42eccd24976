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

var errGrammar = errors.New("the server's answer is not valid IMAP")

// errTruncatedLiteral is a connection that ended before the announced length of a literal.
var errTruncatedLiteral = errors.New("the connection ended within a literal")

// responseParser parses server output. Strings are bounded, and bodies are streamed.
type responseParser struct {
	r *bufio.Reader
	// bodyLimit is the length of the stored text of a body, and bodyBytes where it was cut.
	bodyLimit int
	bodyBytes int64
	// files creates a file for an attachment; nil when contents are not collected.
	files func() (*connectorkit.BlobWriter, error)
	// first is the answer while its first message is read; nil for the others.
	first *serverAnswer
}

func (p *responseParser) readByte() (byte, error) { return p.r.ReadByte() }

func (p *responseParser) peekByte() (byte, error) {
	b, err := p.r.Peek(1)
	if err != nil {
		return 0, err
	}
	return b[0], nil
}

func (p *responseParser) expectByte(c byte) error {
	got, err := p.readByte()
	if err == nil && got != c {
		err = errGrammar
	}
	return err
}

// skipByte passes over a byte if it is next.
func (p *responseParser) skipByte(c byte) bool {
	got, err := p.peekByte()
	if err == nil && got == c {
		_, _ = p.readByte()
		return true
	}
	return false
}

// readRestOfLine reads the rest of a line as text.
func (p *responseParser) readRestOfLine() (string, error) {
	var b []byte
	for {
		piece, err := p.r.ReadSlice('\n')
		if len(b)+len(piece) <= maxLineBytes {
			b = append(b, piece...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return strings.TrimRight(string(b), "\r\n"), err
	}
}

// skipRestOfAnswer passes over the rest of an answer, literals included.
func (p *responseParser) skipRestOfAnswer() error {
	for {
		line, err := p.readRestOfLine()
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

// readWord reads up to a space, a parenthesis or the end of a line. Text in brackets belongs to the word.
func (p *responseParser) readWord() (string, error) {
	var b []byte
	depth := 0
	for {
		c, err := p.peekByte()
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
		_, _ = p.readByte()
		if b = append(b, c); len(b) > maxLineBytes {
			return "", errGrammar
		}
	}
	return string(b), nil
}

func (p *responseParser) readNumber() (uint64, error) {
	w, err := p.readWord()
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(w, 10, 64)
	if err != nil {
		return 0, errGrammar
	}
	return n, nil
}

func (p *responseParser) readUID() (uint32, error) {
	n, err := p.readNumber()
	if err == nil && (n == 0 || n > 1<<32-1) {
		err = errGrammar
	}
	return uint32(n), err
}

// readUIDSet reads a set of UIDs as it comes, however long it is.
func (p *responseParser) readUIDSet() (uidSet, error) {
	var out uidSet
	for {
		var ends [2]uint64
		for i := range ends {
			digits := 0
			for {
				c, err := p.peekByte()
				if err != nil {
					return nil, err
				}
				if c < '0' || c > '9' {
					break
				}
				_, _ = p.readByte()
				if ends[i] = ends[i]*10 + uint64(c-'0'); ends[i] > 1<<32-1 {
					return nil, errGrammar
				}
				digits++
			}
			if digits == 0 || ends[i] == 0 {
				return nil, errGrammar
			}
			if i == 0 && !p.skipByte(':') {
				ends[1] = ends[0]
				break
			}
		}
		if out = out.withRange(uint32(ends[0]), uint32(ends[1])); len(out) > maxUIDSpans {
			return nil, errGrammar
		}
		if !p.skipByte(',') {
			return out, nil
		}
	}
}

// readValue reads a string, an atom, or a list of them; NIL is nil.
func (p *responseParser) readValue(depth int) (any, error) {
	c, err := p.peekByte()
	switch {
	case err != nil:
		return nil, err
	case c == '(':
		_, _ = p.readByte()
		var list []any
		for {
			if p.skipByte(')') {
				return list, nil
			}
			if depth == 0 || len(list) > maxListMembers {
				return nil, errGrammar
			}
			v, err := p.readValue(depth - 1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
			p.skipByte(' ')
		}
	case c == '"' || c == '{':
		b, err := p.readBoundedString(maxStringBytes)
		return string(b), err
	}
	w, err := p.readWord()
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

// openString returns a reader of a string's content. The caller must read it to its end before it continues.
func (p *responseParser) openString() (io.Reader, error) {
	c, err := p.peekByte()
	if err != nil {
		return nil, err
	}
	switch c {
	case '{':
		line, err := p.readRestOfLine()
		if err != nil {
			return nil, err
		}
		n, ok := literalSize(line)
		if !ok {
			return nil, errGrammar
		}
		return &exactReader{r: p.r, left: n}, nil
	case '"':
		b, err := p.readQuoted()
		return bytes.NewReader(b), err
	}
	w, err := p.readWord()
	if err == nil && !strings.EqualFold(w, "NIL") {
		err = errGrammar
	}
	return bytes.NewReader(nil), err
}

// exactReader reads so many bytes; an earlier end is an error.
type exactReader struct {
	r    io.Reader
	left int64
}

func (e *exactReader) Read(b []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n, err := e.r.Read(b[:min(int64(len(b)), e.left)])
	e.left -= int64(n)
	if errors.Is(err, io.EOF) {
		err = errTruncatedLiteral
	}
	return n, err
}

func (p *responseParser) readQuoted() ([]byte, error) {
	if err := p.expectByte('"'); err != nil {
		return nil, err
	}
	var b []byte
	for {
		c, err := p.readByte()
		switch {
		case err != nil:
			return nil, err
		case c == '"':
			return b, nil
		case c == '\r' || c == '\n':
			return nil, errGrammar
		case c == '\\':
			if c, err = p.readByte(); err != nil {
				return nil, err
			}
		}
		if b = append(b, c); len(b) > maxStringBytes {
			return nil, errGrammar
		}
	}
}

// readBoundedString reads a whole string and returns its beginning.
func (p *responseParser) readBoundedString(limit int64) ([]byte, error) {
	r, err := p.openString()
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(r, limit))
	if err == nil {
		_, err = io.Copy(io.Discard, r)
	}
	return b, err
}

// listTexts are the texts of a list.
func listTexts(v any) []string {
	list, _ := v.([]any)
	out := make([]string, 0, len(list))
	for _, w := range list {
		if text, ok := w.(string); ok {
			out = append(out, text)
		}
	}
	return out
}
