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
	s.raw("\x04\x0bstreamtyped")
	s.number(1000)
	s.shared("@")
	object := byte(0x92)
	class := func(names ...string) {
		for _, name := range names {
			object++
			s.raw("\x84")
			s.shared(name)
			if strings.HasSuffix(name, "String") && !strings.Contains(name, "Attributed") {
				s.number(1)
			} else {
				s.number(0)
			}
		}
	}
	s.raw("\x84")
	if mutable {
		class("NSMutableAttributedString")
	}
	class("NSAttributedString", "NSObject")
	root := object // the number of NSObject among objects
	s.raw("\x85")
	s.shared("@")
	s.raw("\x84")
	object++
	if mutable {
		class("NSMutableString")
	}
	class("NSString")
	stringClass := object
	s.out = append(s.out, root)
	s.shared("+")
	s.text(text)
	s.raw("\x86")
	s.shared("iI")
	s.number(1)
	s.number(int64(len(utf16.Encode([]rune(text)))))
	s.shared("@")
	s.raw("\x84")
	class("NSDictionary")
	s.out = append(s.out, root)
	s.shared("i")
	s.number(1)
	s.shared("@") // the name of the attribute
	s.out = append(s.out, 0x84, stringClass)
	s.shared("+")
	s.text("__kIMMessagePartAttributeName")
	s.raw("\x86")
	s.shared("@") // its value: the number of the part
	s.raw("\x84")
	class("NSNumber", "NSValue")
	s.out = append(s.out, root)
	s.shared("*")
	s.raw("\x84")
	s.shared("i")
	s.shared("i")
	s.number(0)
	s.raw("\x86\x86\x86")
	return s.out
}

// streamWriter writes a typedstream. Texts that were written before are referred to.
type streamWriter struct {
	out  []byte
	refs map[string]byte
}

func (s *streamWriter) raw(text string) { s.out = append(s.out, text...) }

func (s *streamWriter) text(text string) {
	s.number(int64(len(text)))
	s.raw(text)
}

func (s *streamWriter) shared(name string) {
	if ref, known := s.refs[name]; known {
		s.out = append(s.out, ref)
		return
	}
	s.refs[name] = byte(0x92 + len(s.refs))
	s.raw("\x84")
	s.text(name)
}

func (s *streamWriter) number(n int64) {
	switch {
	case n < 0x80:
		s.out = append(s.out, byte(n))
	case n <= math.MaxInt16:
		s.out = binary.LittleEndian.AppendUint16(append(s.out, 0x81), uint16(n))
	default:
		s.out = binary.LittleEndian.AppendUint32(append(s.out, 0x82), uint32(n))
	}
}
