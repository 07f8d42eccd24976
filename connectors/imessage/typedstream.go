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
	streamTagNew   = 0x84
	streamTagNil   = 0x85
	firstReference = 0x92

	maxClasses = 16 // above one another
)

var (
	streamSignature       = []byte("\x04\x0bstreamtyped")
	errInvalidTypedstream = errors.New("not a typedstream with a text")
)

// attributedText is the text of an archived attributed string.
func attributedText(body []byte) (string, error) {
	if len(body) > len(streamSignature) && bytes.HasPrefix(body, streamSignature) {
		s := typedStream{rest: body[len(streamSignature):]}
		if _, err := s.readNumber(); err == nil {
			if text, err := s.firstStringText(); err == nil {
				return text, nil
			}
		}
	}
	return searchClassText(body)
}

// typedStream reads a typedstream.
type typedStream struct {
	rest  []byte
	names []string // texts that may be referred to: types and names of classes
}

// firstStringText is the text of the first string object.
func (s *typedStream) firstStringText() (string, error) {
	for range maxClasses { // a string is nested in an attributed string, or is the root
		kind, err := s.readSharedText()
		if err != nil {
			return "", err
		}
		switch kind {
		case "+":
			piece, err := s.readLengthPrefixed()
			return strings.ToValidUTF8(string(piece), "\ufffd"), err
		case "@":
			if err := s.readObjectHeader(); err != nil {
				return "", err
			}
		default:
			return "", errInvalidTypedstream
		}
	}
	return "", errInvalidTypedstream
}

// readObjectHeader reads the beginning of a new object, up to its values.
func (s *typedStream) readObjectHeader() error {
	tag, err := s.readByte()
	if err != nil || tag != streamTagNew {
		return errInvalidTypedstream
	}
	for range maxClasses {
		tag, err := s.readByte()
		switch {
		case err != nil:
			return err
		case tag == streamTagNil:
			return nil
		case tag >= firstReference: // the classes above are known
			return nil
		case tag != streamTagNew:
			return errInvalidTypedstream
		}
		if _, err := s.readSharedText(); err != nil {
			return err
		}
		if _, err := s.readNumber(); err != nil { // the version of the class
			return err
		}
	}
	return errInvalidTypedstream
}

// readSharedText reads a text that is written once and referred to afterwards.
func (s *typedStream) readSharedText() (string, error) {
	tag, err := s.readByte()
	switch {
	case err != nil:
		return "", err
	case tag == streamTagNew:
		piece, err := s.readLengthPrefixed()
		if err != nil {
			return "", err
		}
		s.names = append(s.names, string(piece))
		return string(piece), nil
	case tag >= firstReference && int(tag-firstReference) < len(s.names):
		return s.names[tag-firstReference], nil
	}
	return "", errInvalidTypedstream
}

func (s *typedStream) readLengthPrefixed() ([]byte, error) {
	n, err := s.readNumber()
	if err != nil || n < 0 || n > int64(len(s.rest)) {
		return nil, errInvalidTypedstream
	}
	piece := s.rest[:n]
	s.rest = s.rest[n:]
	return piece, nil
}

func (s *typedStream) readByte() (byte, error) {
	if len(s.rest) == 0 {
		return 0, errInvalidTypedstream
	}
	b := s.rest[0]
	s.rest = s.rest[1:]
	return b, nil
}

func (s *typedStream) readNumber() (int64, error) {
	b, err := s.readByte()
	if err != nil {
		return 0, err
	}
	size := map[byte]int{0x81: 2, 0x82: 4, 0x83: 8}[b]
	if size == 0 {
		return int64(b), nil
	}
	if len(s.rest) < size {
		return 0, errInvalidTypedstream
	}
	var wide [8]byte
	copy(wide[:], s.rest[:size])
	s.rest = s.rest[size:]
	return int64(binary.LittleEndian.Uint64(wide[:])), nil
}

// searchClassText looks for a text behind the name of its class, in a stream that is built
// otherwise than described.
func searchClassText(body []byte) (string, error) {
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
		s := typedStream{rest: behind[at+1:]}
		if piece, err := s.readLengthPrefixed(); err == nil {
			return strings.ToValidUTF8(string(piece), "\ufffd"), nil
		}
	}
	return "", errInvalidTypedstream
}
