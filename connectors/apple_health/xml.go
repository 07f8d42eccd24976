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
	// maxTagBytes bounds one tag with its attributes.
	maxTagBytes = 1 << 20
	bufferSize  = 256 << 10
)

// errUnreadableTag means that a tag cannot be read; the next one can.
var errUnreadableTag = errors.New("the tag cannot be read")

// xmlAttribute is a name and its raw value as written in the file.
type xmlAttribute struct{ name, value []byte }

// xmlElement is a tag. Its bytes are valid until the next one.
type xmlElement struct {
	name       []byte
	attributes []xmlAttribute
	end        bool // it closes one
	empty      bool // it is closed at once
}

// tagScanner finds the tags of an XML file. It does not validate, because some versions of iOS write a broken type
// declaration.
type tagScanner struct {
	r      io.Reader
	buf    []byte
	from   int
	to     int
	offset int64 // of buf[0] in the file
	err    error
	tag    xmlElement
}

func newScanner(r io.Reader, offset int64) *tagScanner {
	return &tagScanner{r: r, buf: make([]byte, bufferSize), offset: offset}
}

// tagOffset is the offset behind the last tag.
func (s *tagScanner) tagOffset() int64 { return s.offset + int64(s.from) }

// readMore fills the buffer. It returns false at the end, or when one tag fills the whole buffer.
func (s *tagScanner) readMore() bool {
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
		if len(s.buf) >= maxTagBytes {
			return false
		}
		s.buf = append(s.buf, make([]byte, len(s.buf))...)
	}
	n, err := s.r.Read(s.buf[s.to:])
	s.to += n
	s.err = err
	return n > 0 || err == nil
}

// nextTag returns the next tag. It returns errUnreadableTag for a tag that cannot be read and io.EOF at the end.
func (s *tagScanner) nextTag() (*xmlElement, error) {
	for {
		at := bytes.IndexByte(s.buf[s.from:s.to], '<')
		if at < 0 {
			s.from = s.to
			if !s.readMore() {
				return nil, s.endError(io.EOF)
			}
			continue
		}
		s.from += at
		for s.to-s.from < 9 && s.readMore() {
		}
		rest := s.buf[s.from:s.to]
		switch {
		case bytes.HasPrefix(rest, []byte("<!--")):
			if err := s.skipPast("-->"); err != nil {
				return nil, err
			}
		case bytes.HasPrefix(rest, []byte("<![CDATA[")):
			if err := s.skipPast("]]>"); err != nil {
				return nil, err
			}
		case bytes.HasPrefix(rest, []byte("<?")):
			if err := s.skipPast("?>"); err != nil {
				return nil, err
			}
		case bytes.HasPrefix(rest, []byte("<!DOCTYPE")):
			if err := s.skipDoctype(); err != nil {
				return nil, err
			}
		case bytes.HasPrefix(rest, []byte("<!")):
			if err := s.skipPast(">"); err != nil {
				return nil, err
			}
		default:
			return s.readTag()
		}
	}
}

// endError is why there is no more.
func (s *tagScanner) endError(otherwise error) error {
	if s.err != nil && !errors.Is(s.err, io.EOF) {
		return s.err
	}
	return otherwise
}

// skipPast moves behind the next occurrence of a mark.
func (s *tagScanner) skipPast(mark string) error {
	for {
		if at := bytes.Index(s.buf[s.from:s.to], []byte(mark)); at >= 0 {
			s.from += at + len(mark)
			return nil
		}
		s.from = max(s.from, s.to-len(mark)+1)
		if !s.readMore() {
			return s.endError(io.ErrUnexpectedEOF)
		}
	}
}

// skipDoctype moves behind the type declaration. It stops where the data begins, even if brackets are unbalanced.
func (s *tagScanner) skipDoctype() error {
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
		if len(rest) >= maxTagBytes/2 {
			s.from = s.to - 16
		}
		if !s.readMore() {
			return s.endError(io.ErrUnexpectedEOF)
		}
	}
}

// readTag reads the tag that begins here.
func (s *tagScanner) readTag() (*xmlElement, error) {
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
					return nil, errUnreadableTag
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
				return nil, errUnreadableTag
			case c == '>':
				tag := rest[1:looked]
				s.from += looked + 1
				return s.parseAttributes(tag)
			}
		}
		if len(rest) >= maxTagBytes || !s.readMore() {
			if err := s.endError(nil); err != nil {
				return nil, err
			}
			if len(rest) < maxTagBytes {
				s.from = s.to
				return nil, io.ErrUnexpectedEOF
			}
			s.from++ // an unclosed quote costs only its own tag
			return nil, errUnreadableTag
		}
	}
}

// parseAttributes cuts a tag into its attributes.
func (s *tagScanner) parseAttributes(tag []byte) (*xmlElement, error) {
	e := &s.tag
	e.attributes = e.attributes[:0]
	if e.end = len(tag) > 0 && tag[0] == '/'; e.end {
		tag = tag[1:]
	}
	if e.empty = len(tag) > 0 && tag[len(tag)-1] == '/'; e.empty {
		tag = tag[:len(tag)-1]
	}
	n := 0
	for n < len(tag) && !isXMLSpace(tag[n]) {
		n++
	}
	e.name, tag = tag[:n], tag[n:]
	for {
		for len(tag) > 0 && isXMLSpace(tag[0]) {
			tag = tag[1:]
		}
		if len(tag) == 0 {
			return e, nil
		}
		eq := bytes.IndexByte(tag, '=')
		if eq < 0 {
			return nil, errUnreadableTag
		}
		name := bytes.TrimRight(tag[:eq], " \t\r\n")
		tag = bytes.TrimLeft(tag[eq+1:], " \t\r\n")
		if len(tag) == 0 || tag[0] != '"' && tag[0] != '\'' {
			return nil, errUnreadableTag
		}
		end := bytes.IndexByte(tag[1:], tag[0])
		if end < 0 {
			return nil, errUnreadableTag
		}
		e.attributes = append(e.attributes, xmlAttribute{name, tag[1 : 1+end]})
		tag = tag[end+2:]
	}
}

func isXMLSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// rawAttribute returns the value of the first attribute with that name, undecoded. It returns nil when there is none.
func (e *xmlElement) rawAttribute(name string) []byte {
	for _, a := range e.attributes {
		if string(a.name) == name {
			return a.value
		}
	}
	return nil
}

// attributeText is an attribute's value.
func (e *xmlElement) attributeText(name string) string { return decodeEntities(e.rawAttribute(name)) }

// decodeEntities resolves character references and entities.
func decodeEntities(raw []byte) string {
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
		r, known := entityRune(name)
		if !closed || !known {
			b.WriteByte('&')
			text = rest
			continue
		}
		b.WriteRune(r)
		text = after
	}
}

func entityRune(name string) (rune, bool) {
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
