package imessage

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
)

// A body is an attributed string in the form that Apple's programs archived objects in
// before keyed archives: a typedstream. Of it, only the text is of interest, and that
// comes first:
//
//	04 0b "streamtyped" 81 e8 03              version, signature, version of the system
//	84 01 "@"                                 a value of type object follows
//	84 84 84 12 "NSAttributedString" 00 ...   a new object, its class and the classes above
//	92                                        a value of type object, by reference
//	84 84 84 08 "NSString" 01 94              a new object, its class, and NSObject by reference
//	84 01 "+"                                 a value of type text
//	03 "Yes" 86                               its length, the text, the end of the object
//
// Numbers are one byte; 81 announces two bytes, 82 four and 83 eight, little-endian.

const (
	tagNew   = 0x84
	tagNil   = 0x85
	firstRef = 0x92

	maxClasses = 16 // above one another
)

var (
	signature = []byte("\x04\x0bstreamtyped")
	errStream = errors.New("not a typedstream with a text")
)

// bodyText is the text of an archived attributed string.
func bodyText(body []byte) (string, error) {
	if len(body) > len(signature) && bytes.HasPrefix(body, signature) {
		s := stream{rest: body[len(signature):]}
		if _, err := s.number(); err == nil {
			if text, err := s.text(); err == nil {
				return text, nil
			}
		}
	}
	return foundText(body)
}

// stream reads a typedstream.
type stream struct {
	rest  []byte
	names []string // texts that may be referred to: types and names of classes
}

// text is the text of the first string object.
func (s *stream) text() (string, error) {
	for range maxClasses { // a string lies within an attributed string, or by itself
		kind, err := s.shared()
		if err != nil {
			return "", err
		}
		switch kind {
		case "+":
			piece, err := s.bytes()
			return strings.ToValidUTF8(string(piece), "\ufffd"), err
		case "@":
			if err := s.object(); err != nil {
				return "", err
			}
		default:
			return "", errStream
		}
	}
	return "", errStream
}

// object reads the beginning of a new object, up to its values.
func (s *stream) object() error {
	tag, err := s.byte()
	if err != nil || tag != tagNew {
		return errStream
	}
	for range maxClasses {
		tag, err := s.byte()
		switch {
		case err != nil:
			return err
		case tag == tagNil:
			return nil
		case tag >= firstRef: // the classes above are known
			return nil
		case tag != tagNew:
			return errStream
		}
		if _, err := s.shared(); err != nil {
			return err
		}
		if _, err := s.number(); err != nil { // the version of the class
			return err
		}
	}
	return errStream
}

// shared reads a text that is written once and referred to afterwards.
func (s *stream) shared() (string, error) {
	tag, err := s.byte()
	switch {
	case err != nil:
		return "", err
	case tag == tagNew:
		piece, err := s.bytes()
		if err != nil {
			return "", err
		}
		s.names = append(s.names, string(piece))
		return string(piece), nil
	case tag >= firstRef && int(tag-firstRef) < len(s.names):
		return s.names[tag-firstRef], nil
	}
	return "", errStream
}

func (s *stream) bytes() ([]byte, error) {
	n, err := s.number()
	if err != nil || n < 0 || n > int64(len(s.rest)) {
		return nil, errStream
	}
	piece := s.rest[:n]
	s.rest = s.rest[n:]
	return piece, nil
}

func (s *stream) byte() (byte, error) {
	if len(s.rest) == 0 {
		return 0, errStream
	}
	b := s.rest[0]
	s.rest = s.rest[1:]
	return b, nil
}

func (s *stream) number() (int64, error) {
	b, err := s.byte()
	if err != nil {
		return 0, err
	}
	size := map[byte]int{0x81: 2, 0x82: 4, 0x83: 8}[b]
	if size == 0 {
		return int64(b), nil
	}
	if len(s.rest) < size {
		return 0, errStream
	}
	var wide [8]byte
	copy(wide[:], s.rest[:size])
	s.rest = s.rest[size:]
	return int64(binary.LittleEndian.Uint64(wide[:])), nil
}

// foundText looks for a text behind the name of its class, in a stream that is built
// otherwise than described.
func foundText(body []byte) (string, error) {
	for _, class := range []string{"NSString", "NSMutableString"} {
		_, behind, found := bytes.Cut(body, []byte(class))
		if !found {
			continue
		}
		// Its version, the classes above, and the type of its value.
		at := bytes.IndexByte(behind[:min(len(behind), 32)], '+')
		if at < 0 {
			continue
		}
		s := stream{rest: behind[at+1:]}
		if piece, err := s.bytes(); err == nil {
			return strings.ToValidUTF8(string(piece), "\ufffd"), nil
		}
	}
	return "", errStream
}
