package applehealth

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	// maxTag bounds one tag with its attributes.
	maxTag     = 1 << 20
	bufferSize = 256 << 10
)

// errTag means that a tag cannot be read; the next one can.
var errTag = errors.New("the tag cannot be read")

// attribute is a name and its value as it stands in the file.
type attribute struct{ name, value []byte }

// element is a tag. Its bytes are valid until the next one.
type element struct {
	name       []byte
	attributes []attribute
	end        bool // it closes one
	empty      bool // it is closed at once
}

// scanner finds the tags of an XML file. It judges nothing: documents whose declaration of
// types is broken, as those of some versions of iOS are, are read like any other.
type scanner struct {
	r      io.Reader
	buf    []byte
	from   int
	to     int
	offset int64 // of buf[0] in the file
	err    error
	tag    element
}

func newScanner(r io.Reader, offset int64) *scanner {
	return &scanner{r: r, buf: make([]byte, bufferSize), offset: offset}
}

// place is the offset behind the last tag.
func (s *scanner) place() int64 { return s.offset + int64(s.from) }

// more reads on, and makes room first; false at the end, or when one thing fills it all.
func (s *scanner) more() bool {
	if s.err != nil {
		return false
	}
	if s.from > 0 {
		copy(s.buf, s.buf[s.from:s.to])
		s.offset += int64(s.from)
		s.to -= s.from
		s.from = 0
	}
	if s.to == len(s.buf) {
		if len(s.buf) >= maxTag {
			return false
		}
		s.buf = append(s.buf, make([]byte, len(s.buf))...)
	}
	n, err := s.r.Read(s.buf[s.to:])
	s.to += n
	s.err = err
	return n > 0 || err == nil
}

// next gives the next tag; errTag for one that cannot be read, io.EOF at the end.
func (s *scanner) next() (*element, error) {
	for {
		at := bytes.IndexByte(s.buf[s.from:s.to], '<')
		if at < 0 {
			s.from = s.to
			if !s.more() {
				return nil, s.ended(io.EOF)
			}
			continue
		}
		s.from += at
		for s.to-s.from < 9 && s.more() {
		}
		rest := s.buf[s.from:s.to]
		switch {
		case bytes.HasPrefix(rest, []byte("<!--")):
			if err := s.pass("-->"); err != nil {
				return nil, err
			}
		case bytes.HasPrefix(rest, []byte("<![CDATA[")):
			if err := s.pass("]]>"); err != nil {
				return nil, err
			}
		case bytes.HasPrefix(rest, []byte("<?")):
			if err := s.pass("?>"); err != nil {
				return nil, err
			}
		case bytes.HasPrefix(rest, []byte("<!DOCTYPE")):
			if err := s.passTypes(); err != nil {
				return nil, err
			}
		case bytes.HasPrefix(rest, []byte("<!")):
			if err := s.pass(">"); err != nil {
				return nil, err
			}
		default:
			return s.read()
		}
	}
}

// ended is why there is no more.
func (s *scanner) ended(otherwise error) error {
	if s.err != nil && !errors.Is(s.err, io.EOF) {
		return s.err
	}
	return otherwise
}

// pass goes on behind a mark, however far that is.
func (s *scanner) pass(mark string) error {
	for {
		if at := bytes.Index(s.buf[s.from:s.to], []byte(mark)); at >= 0 {
			s.from += at + len(mark)
			return nil
		}
		s.from = max(s.from, s.to-len(mark)+1)
		if !s.more() {
			return s.ended(io.ErrUnexpectedEOF)
		}
	}
}

// passTypes goes on behind the declaration of types. It ends where the data begins, whatever
// became of its own brackets.
func (s *scanner) passTypes() error {
	s.from++
	for {
		rest := s.buf[s.from:s.to]
		end, data := bytes.Index(rest, []byte("]>")), bytes.Index(rest, []byte("<HealthData"))
		plain, bracket := bytes.IndexByte(rest, '>'), bytes.IndexByte(rest, '[')
		switch {
		case data >= 0 && (end < 0 || data < end):
			s.from += data
			return nil
		case end >= 0:
			s.from += end + 2
			return nil
		case plain >= 0 && (bracket < 0 || plain < bracket) && bytes.IndexByte(rest[:plain], '<') < 0:
			s.from += plain + 1
			return nil
		}
		if len(rest) >= maxTag/2 {
			s.from = s.to - 16
		}
		if !s.more() {
			return s.ended(io.ErrUnexpectedEOF)
		}
	}
}

// read reads the tag that begins here.
func (s *scanner) read() (*element, error) {
	looked, quote := 1, byte(0)
	for {
		rest := s.buf[s.from:s.to]
		for ; looked < len(rest); looked++ {
			c := rest[looked]
			switch {
			case quote != 0:
				value := rest[looked:]
				at := bytes.IndexByte(value, quote)
				if at >= 0 {
					value = value[:at]
				}
				if open := bytes.IndexByte(value, '<'); open >= 0 { // the quote was never closed: this begins another tag
					s.from += looked + open
					return nil, errTag
				}
				if at < 0 {
					looked = len(rest) - 1
					continue
				}
				looked, quote = looked+at, 0
			case c == '"' || c == '\'':
				quote = c
			case c == '<': // the one before was never closed
				s.from += looked
				return nil, errTag
			case c == '>':
				tag := rest[1:looked]
				s.from += looked + 1
				return s.parse(tag)
			}
		}
		if len(rest) >= maxTag || !s.more() {
			if err := s.ended(nil); err != nil {
				return nil, err
			}
			if len(rest) < maxTag {
				s.from = s.to
				return nil, io.ErrUnexpectedEOF
			}
			s.from++ // a quote that is never closed takes its own tag alone
			return nil, errTag
		}
	}
}

// parse cuts a tag into its attributes.
func (s *scanner) parse(tag []byte) (*element, error) {
	e := &s.tag
	e.attributes = e.attributes[:0]
	if e.end = len(tag) > 0 && tag[0] == '/'; e.end {
		tag = tag[1:]
	}
	if e.empty = len(tag) > 0 && tag[len(tag)-1] == '/'; e.empty {
		tag = tag[:len(tag)-1]
	}
	n := 0
	for n < len(tag) && !space(tag[n]) {
		n++
	}
	e.name, tag = tag[:n], tag[n:]
	for {
		for len(tag) > 0 && space(tag[0]) {
			tag = tag[1:]
		}
		if len(tag) == 0 {
			return e, nil
		}
		eq := bytes.IndexByte(tag, '=')
		if eq < 0 {
			return nil, errTag
		}
		name := bytes.TrimRight(tag[:eq], " \t\r\n")
		tag = bytes.TrimLeft(tag[eq+1:], " \t\r\n")
		if len(tag) == 0 || tag[0] != '"' && tag[0] != '\'' {
			return nil, errTag
		}
		end := bytes.IndexByte(tag[1:], tag[0])
		if end < 0 {
			return nil, errTag
		}
		e.attributes = append(e.attributes, attribute{name, tag[1 : 1+end]})
		tag = tag[end+2:]
	}
}

func space(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// raw is an attribute's value as it stands; nil when there is none. The first one counts.
func (e *element) raw(name string) []byte {
	for _, a := range e.attributes {
		if string(a.name) == name {
			return a.value
		}
	}
	return nil
}

// text is an attribute's value.
func (e *element) text(name string) string { return decoded(e.raw(name)) }

// decoded resolves what stands for other characters.
func decoded(raw []byte) string {
	if bytes.IndexByte(raw, '&') < 0 && utf8.Valid(raw) {
		return string(raw)
	}
	var b strings.Builder
	for text := string(raw); ; {
		before, rest, more := strings.Cut(text, "&")
		b.WriteString(before)
		if !more {
			return strings.ToValidUTF8(b.String(), "\uFFFD")
		}
		name, after, closed := strings.Cut(rest, ";")
		r, known := entity(name)
		if !closed || !known {
			b.WriteByte('&')
			text = rest
			continue
		}
		b.WriteRune(r)
		text = after
	}
}

func entity(name string) (rune, bool) {
	switch name {
	case "amp":
		return '&', true
	case "lt":
		return '<', true
	case "gt":
		return '>', true
	case "quot":
		return '"', true
	case "apos":
		return '\'', true
	}
	digits, number := strings.CutPrefix(name, "#")
	base := 10
	if hex, ok := strings.CutPrefix(digits, "x"); ok {
		digits, base = hex, 16
	}
	n, err := strconv.ParseUint(digits, base, 32)
	if !number || err != nil || n == 0 || !utf8.ValidRune(rune(n)) {
		return 0, false
	}
	return rune(n), true
}
