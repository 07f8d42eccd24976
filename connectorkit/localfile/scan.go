package localfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/protocol"
)

// ErrValueKind means that a JSON value is of another kind than was expected.
var ErrValueKind = errors.New("the value is of another kind")

// errInvalidJSON means that a text is no JSON.
var errInvalidJSON = errors.New("the text is no JSON")

// JSONScanner walks one JSON value in its order, once, and decodes nothing that is not asked for.
// It reuses its memory. Text that is not UTF-8 is read with replacement characters, and a name that an
// object has twice is met twice.
type JSONScanner struct {
	b     []byte
	i     int // of what comes next
	depth int
	known [64]string // texts that were read lately: lines repeat them
}

// maxScanNesting is how deep values may lie in each other.
const maxScanNesting = 10_000

// Start begins with a value.
func (s *JSONScanner) Start(value []byte) { s.b, s.i, s.depth = value, 0, 0 }

// End expects that nothing follows.
func (s *JSONScanner) End() error {
	if s.nextByte() != 0 || s.i < len(s.b) {
		return ErrValueKind
	}
	return nil
}

// nextByte skips space and returns the byte after it, or zero at the end.
func (s *JSONScanner) nextByte() byte {
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
func (s *JSONScanner) Kind() jsontext.Kind {
	switch c := s.nextByte(); {
	case c == '-' || c >= '0' && c <= '9':
		return '0'
	case c == '"' || c == '{' || c == '[' || c == 't' || c == 'f' || c == 'n':
		return jsontext.Kind(c)
	}
	return jsontext.KindInvalid
}

// Object calls member for each member of the next value, an object. It has to read or skip
// the member's value; the name is valid until then.
func (s *JSONScanner) Object(member func(name []byte) error) error {
	if err := s.enterValue('{'); err != nil {
		return err
	}
	for more := s.nextByte() != '}'; more; {
		if s.nextByte() != '"' {
			return errInvalidJSON
		}
		name := s.i + 1
		if err := s.scanText(); err != nil {
			return err
		}
		end := s.i - 1
		if s.nextByte() != ':' {
			return errInvalidJSON
		}
		s.i++
		if err := member(s.b[name:end]); err != nil {
			return err
		}
		var err error
		if more, err = s.nextElement('}'); err != nil {
			return err
		}
	}
	return s.leaveValue()
}

// Array calls item for each element of the next value, an array.
func (s *JSONScanner) Array(item func() error) error {
	if err := s.enterValue('['); err != nil {
		return err
	}
	for more := s.nextByte() != ']'; more; {
		if err := item(); err != nil {
			return err
		}
		var err error
		if more, err = s.nextElement(']'); err != nil {
			return err
		}
	}
	return s.leaveValue()
}

func (s *JSONScanner) enterValue(kind jsontext.Kind) error {
	if s.Kind() != kind {
		if err := s.Skip(); err != nil {
			return err
		}
		return ErrValueKind
	}
	if s.depth++; s.depth > maxScanNesting {
		return errInvalidJSON
	}
	s.i++
	return nil
}

// leaveValue passes over the end of an object or an array.
func (s *JSONScanner) leaveValue() error {
	s.i++
	s.depth--
	return nil
}

// nextElement reports whether another member or element follows, and not the end.
func (s *JSONScanner) nextElement(end byte) (more bool, err error) {
	switch s.nextByte() {
	case ',':
		s.i++
		return true, nil
	case end:
		return false, nil
	}
	return false, errInvalidJSON
}

// Skip passes over the next value.
func (s *JSONScanner) Skip() error {
	switch c := s.nextByte(); c {
	case '"':
		return s.scanText()
	case '{':
		return s.Object(func([]byte) error { return s.Skip() })
	case '[':
		return s.Array(s.Skip)
	case 't':
		return s.scanWord("true")
	case 'f':
		return s.scanWord("false")
	case 'n':
		return s.scanWord("null")
	}
	return s.scanNumber()
}

func (s *JSONScanner) scanWord(word string) error {
	if len(s.b)-s.i < len(word) || string(s.b[s.i:s.i+len(word)]) != word {
		return errInvalidJSON
	}
	s.i += len(word)
	return nil
}

func (s *JSONScanner) scanNumber() error {
	n := protocol.NumberLength(s.b[s.i:])
	if n == 0 {
		return errInvalidJSON
	}
	s.i += n
	return nil
}

// scanText passes over a text with its quotes.
func (s *JSONScanner) scanText() error {
	for s.i++; ; {
		if s.i, _ = protocol.TextStop(s.b, s.i); s.i == len(s.b) {
			return errInvalidJSON
		}
		switch s.b[s.i] {
		case '"':
			s.i++
			return nil
		case '\\':
			n := protocol.EscapeLength(s.b[s.i:])
			if n == 0 {
				return errInvalidJSON
			}
			s.i += n
		default: // a control character
			return errInvalidJSON
		}
	}
}

// Raw returns the next value unchanged. It is valid until the next call.
func (s *JSONScanner) Raw() (jsontext.Value, error) {
	s.nextByte()
	start := s.i
	if err := s.Skip(); err != nil {
		return nil, err
	}
	return s.b[start:s.i:s.i], nil
}

// maxShortText bounds the texts that Text reads: ids, names and times.
const maxShortText = 4 << 10

// Text is the next value if it is a text of reasonable length, and empty otherwise.
func (s *JSONScanner) Text() (string, error) {
	raw, err := s.Raw()
	if err != nil || raw.Kind() != '"' || len(raw) > maxShortText {
		return "", err
	}
	if len(raw) < len(`""`)+4 {
		return unquoteText(raw), nil
	}
	inside := raw[1 : len(raw)-1]
	known := &s.known[(binary.LittleEndian.Uint32(inside[len(inside)-4:])*0x9e3779b1+uint32(len(inside)))>>26]
	if string(inside) != *known || bytes.IndexByte(inside, '\\') >= 0 {
		*known = unquoteText(raw)
	}
	return *known, nil
}

// Bool is the next value if it is true or false.
func (s *JSONScanner) Bool() (bool, error) {
	raw, err := s.Raw()
	return err == nil && raw.Kind() == 't', err
}

func unquoteText(raw jsontext.Value) string {
	inside := raw[1 : len(raw)-1]
	if bytes.IndexByte(inside, '\\') < 0 && utf8.Valid(inside) {
		return string(inside)
	}
	text := &Excerpt{Limit: len(raw)}
	text.Quoted(raw)
	return text.String()
}
