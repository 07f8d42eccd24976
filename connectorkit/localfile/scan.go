package localfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/protocol"
)

// ErrShape means that a JSON value is of another kind than was expected.
var ErrShape = errors.New("the value is of another kind")

// errSyntax means that a text is no JSON.
var errSyntax = errors.New("the text is no JSON")

// Scan walks one JSON value in its order, once, and decodes nothing that is not asked for.
// It reuses its memory. Text that is not UTF-8 is read with replacement characters, and a name that an
// object has twice is met twice.
type Scan struct {
	b     []byte
	i     int // of what comes next
	depth int
	known [64]string // texts that were read lately: lines repeat them
}

// maxNesting is how deep values may lie in each other.
const maxNesting = 10_000

// Start begins with a value.
func (s *Scan) Start(value []byte) { s.b, s.i, s.depth = value, 0, 0 }

// End expects that nothing follows.
func (s *Scan) End() error {
	if s.next() != 0 || s.i < len(s.b) {
		return ErrShape
	}
	return nil
}

// next passes over space and gives the byte behind it; zero at the end.
func (s *Scan) next() byte {
	for ; s.i < len(s.b); s.i++ {
		switch c := s.b[s.i]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// Kind is the kind of the next value.
func (s *Scan) Kind() jsontext.Kind {
	switch c := s.next(); {
	case c == '-' || c >= '0' && c <= '9':
		return '0'
	case c == '"' || c == '{' || c == '[' || c == 't' || c == 'f' || c == 'n':
		return jsontext.Kind(c)
	}
	return jsontext.KindInvalid
}

// Object calls member for each member of the next value, an object. It has to read or skip
// the member's value; the name is valid until then.
func (s *Scan) Object(member func(name []byte) error) error {
	if err := s.enter('{'); err != nil {
		return err
	}
	for more := s.next() != '}'; more; {
		if s.next() != '"' {
			return errSyntax
		}
		name := s.i + 1
		if err := s.text(); err != nil {
			return err
		}
		end := s.i - 1
		if s.next() != ':' {
			return errSyntax
		}
		s.i++
		if err := member(s.b[name:end]); err != nil {
			return err
		}
		var err error
		if more, err = s.comma('}'); err != nil {
			return err
		}
	}
	return s.leave()
}

// Array calls item for each element of the next value, an array.
func (s *Scan) Array(item func() error) error {
	if err := s.enter('['); err != nil {
		return err
	}
	for more := s.next() != ']'; more; {
		if err := item(); err != nil {
			return err
		}
		var err error
		if more, err = s.comma(']'); err != nil {
			return err
		}
	}
	return s.leave()
}

func (s *Scan) enter(kind jsontext.Kind) error {
	if s.Kind() != kind {
		if err := s.Skip(); err != nil {
			return err
		}
		return ErrShape
	}
	if s.depth++; s.depth > maxNesting {
		return errSyntax
	}
	s.i++
	return nil
}

// leave passes over the end of an object or an array.
func (s *Scan) leave() error {
	s.i++
	s.depth--
	return nil
}

// comma reports whether another member or element follows, and not the end.
func (s *Scan) comma(end byte) (more bool, err error) {
	switch s.next() {
	case ',':
		s.i++
		return true, nil
	case end:
		return false, nil
	}
	return false, errSyntax
}

// Skip passes over the next value.
func (s *Scan) Skip() error {
	switch c := s.next(); c {
	case '"':
		return s.text()
	case '{':
		return s.Object(func([]byte) error { return s.Skip() })
	case '[':
		return s.Array(s.Skip)
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	}
	return s.number()
}

func (s *Scan) word(word string) error {
	if len(s.b)-s.i < len(word) || string(s.b[s.i:s.i+len(word)]) != word {
		return errSyntax
	}
	s.i += len(word)
	return nil
}

func (s *Scan) number() error {
	n := protocol.NumberLength(s.b[s.i:])
	if n == 0 {
		return errSyntax
	}
	s.i += n
	return nil
}

// text passes over a text with its quotes.
func (s *Scan) text() error {
	for s.i++; ; {
		if s.i, _ = protocol.TextStop(s.b, s.i); s.i == len(s.b) {
			return errSyntax
		}
		switch s.b[s.i] {
		case '"':
			s.i++
			return nil
		case '\\':
			n := protocol.EscapeLength(s.b[s.i:])
			if n == 0 {
				return errSyntax
			}
			s.i += n
		default: // a control character
			return errSyntax
		}
	}
}

// Raw is the next value as it stands, valid until the next call.
func (s *Scan) Raw() (jsontext.Value, error) {
	s.next()
	start := s.i
	if err := s.Skip(); err != nil {
		return nil, err
	}
	return s.b[start:s.i:s.i], nil
}

// maxText bounds the texts that Text reads: ids, names and times.
const maxText = 4 << 10

// Text is the next value if it is a text of reasonable length, and empty otherwise.
func (s *Scan) Text() (string, error) {
	raw, err := s.Raw()
	if err != nil || raw.Kind() != '"' || len(raw) > maxText {
		return "", err
	}
	if len(raw) < len(`""`)+4 {
		return unquote(raw), nil
	}
	inside := raw[1 : len(raw)-1]
	known := &s.known[(binary.LittleEndian.Uint32(inside[len(inside)-4:])*0x9e3779b1+uint32(len(inside)))>>26]
	if string(inside) != *known || bytes.IndexByte(inside, '\\') >= 0 {
		*known = unquote(raw)
	}
	return *known, nil
}

// Bool is the next value if it is true or false.
func (s *Scan) Bool() (bool, error) {
	raw, err := s.Raw()
	return err == nil && raw.Kind() == 't', err
}

func unquote(raw jsontext.Value) string {
	inside := raw[1 : len(raw)-1]
	if bytes.IndexByte(inside, '\\') < 0 && utf8.Valid(inside) {
		return string(inside)
	}
	text := &Excerpt{Limit: len(raw)}
	text.Quoted(raw)
	return text.String()
}
