package files

import (
	"encoding/binary"
	"math"
	"strings"
	"unicode/utf16"
)

// Body archives a text as Messages does: as an attributed string with one attribute, in the
// form of a typedstream. A mutable one has other classes.
func Body(text string, mutable bool) []byte {
	s := streamWriter{refs: map[string]byte{}}
	s.writeRaw("\x04\x0bstreamtyped")
	s.writeNumber(1000)
	s.writeShared("@")
	object := byte(0x92)
	class := func(names ...string) {
		for _, name := range names {
			object++
			s.writeRaw("\x84")
			s.writeShared(name)
			if strings.HasSuffix(name, "String") && !strings.Contains(name, "Attributed") {
				s.writeNumber(1)
			} else {
				s.writeNumber(0)
			}
		}
	}
	s.writeRaw("\x84")
	if mutable {
		class("NSMutableAttributedString")
	}
	class("NSAttributedString", "NSObject")
	root := object // the number of NSObject among objects
	s.writeRaw("\x85")
	s.writeShared("@")
	s.writeRaw("\x84")
	object++
	if mutable {
		class("NSMutableString")
	}
	class("NSString")
	stringClass := object
	s.out = append(s.out, root)
	s.writeShared("+")
	s.writeText(text)
	s.writeRaw("\x86")
	s.writeShared("iI")
	s.writeNumber(1)
	s.writeNumber(int64(len(utf16.Encode([]rune(text)))))
	s.writeShared("@")
	s.writeRaw("\x84")
	class("NSDictionary")
	s.out = append(s.out, root)
	s.writeShared("i")
	s.writeNumber(1)
	s.writeShared("@") // the name of the attribute
	s.out = append(s.out, 0x84, stringClass)
	s.writeShared("+")
	s.writeText("__kIMMessagePartAttributeName")
	s.writeRaw("\x86")
	s.writeShared("@") // its value: the number of the part
	s.writeRaw("\x84")
	class("NSNumber", "NSValue")
	s.out = append(s.out, root)
	s.writeShared("*")
	s.writeRaw("\x84")
	s.writeShared("i")
	s.writeShared("i")
	s.writeNumber(0)
	s.writeRaw("\x86\x86\x86")
	return s.out
}

// streamWriter writes a typedstream. Texts that were written before are referred to.
type streamWriter struct {
	out  []byte
	refs map[string]byte
}

func (s *streamWriter) writeRaw(text string) { s.out = append(s.out, text...) }

func (s *streamWriter) writeText(text string) {
	s.writeNumber(int64(len(text)))
	s.writeRaw(text)
}

func (s *streamWriter) writeShared(name string) {
	if ref, known := s.refs[name]; known {
		s.out = append(s.out, ref)
		return
	}
	s.refs[name] = byte(0x92 + len(s.refs))
	s.writeRaw("\x84")
	s.writeText(name)
}

func (s *streamWriter) writeNumber(n int64) {
	switch {
	case n < 0x80:
		s.out = append(s.out, byte(n))
	case n <= math.MaxInt16:
		s.out = binary.LittleEndian.AppendUint16(append(s.out, 0x81), uint16(n))
	default:
		s.out = binary.LittleEndian.AppendUint32(append(s.out, 0x82), uint32(n))
	}
}
