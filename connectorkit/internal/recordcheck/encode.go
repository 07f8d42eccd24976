// Package recordcheck encodes and decodes records fast.
//
//	encode.go   encodes plain structs
//	decode.go   decodes records for the full validator
//	members.go  picks single members of an encoded record
package recordcheck

import (
	"math/bits"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

// RecordEncoder encodes records of one struct type exactly like json.Marshal, if all members are strings, integers
// and booleans. Most are, and their strings are long.
type RecordEncoder struct {
	members []encodedField
}

type encodedField struct {
	index    int
	kind     reflect.Kind
	name     string
	quoted   string // with its colon
	omitzero bool
}

// recordEncoders caches the known types; nil for a type that needs json.Marshal.
var recordEncoders sync.Map // reflect.Type to *RecordEncoder

// EncoderFor returns the encoder for a type, or nil if it needs json.Marshal.
func EncoderFor(t reflect.Type) *RecordEncoder {
	if known, ok := recordEncoders.Load(t); ok {
		return known.(*RecordEncoder)
	}
	q := newRecordEncoder(t)
	recordEncoders.Store(t, q)
	return q
}

var customEncodings = []reflect.Type{
	reflect.TypeFor[json.Marshaler](),
	reflect.TypeFor[json.MarshalerTo](),
	reflect.TypeFor[interface{ MarshalText() ([]byte, error) }](),
	reflect.TypeFor[interface {
		AppendText(b []byte) ([]byte, error)
	}](),
}

func newRecordEncoder(t reflect.Type) *RecordEncoder {
	if t.Kind() != reflect.Struct {
		return nil
	}
	for _, other := range customEncodings {
		if reflect.PointerTo(t).Implements(other) {
			return nil
		}
	}
	q := &RecordEncoder{}
	seen := map[string]bool{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		plain := f.IsExported() && !f.Anonymous && name != "" &&
			strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
		switch f.Type {
		case reflect.TypeFor[string](), reflect.TypeFor[bool](), reflect.TypeFor[int](), reflect.TypeFor[int64]():
		default:
			plain = false
		}
		if !plain || seen[name] || options != "" && options != "omitzero" {
			return nil
		}
		seen[name] = true
		q.members = append(q.members, encodedField{i, f.Type.Kind(), name, `"` + name + `":`, options != ""})
	}
	return q
}

// AppendRecord appends the encoded record to dst. It returns false if a string needs json.Marshal.
func (q *RecordEncoder) AppendRecord(dst []byte, v reflect.Value) ([]byte, bool) {
	dst = append(dst, '{')
	empty := len(dst)
	for i := range q.members {
		m := &q.members[i]
		value := v.Field(m.index)
		if m.omitzero && value.IsZero() {
			continue
		}
		if len(dst) > empty {
			dst = append(dst, ',')
		}
		dst = append(dst, m.quoted...)
		switch m.kind {
		case reflect.String:
			var good bool
			if dst, good = appendQuoted(dst, value.String()); !good {
				return dst, false
			}
		case reflect.Bool:
			dst = strconv.AppendBool(dst, value.Bool())
		default:
			dst = strconv.AppendInt(dst, value.Int(), 10)
		}
	}
	return append(dst, '}'), true
}

// firstSpecial returns the index of the first byte, from i on, that needs an escape in JSON or is not ASCII, or the
// length if there is none.
func firstSpecial(s string, i int) int {
	rest := s[i:]
	for len(rest) >= 16 {
		found, more := specialBytes(firstEight(rest)), specialBytes(firstEight(rest[8:]))
		if found != 0 {
			return len(s) - len(rest) + bits.TrailingZeros64(found)/8
		}
		if more != 0 {
			return len(s) - len(rest) + 8 + bits.TrailingZeros64(more)/8
		}
		rest = rest[16:]
	}
	if len(rest) >= 8 {
		if found := specialBytes(firstEight(rest)); found != 0 {
			return len(s) - len(rest) + bits.TrailingZeros64(found)/8
		}
		rest = rest[8:]
	}
	for len(rest) > 0 && isPlainByte(rest[0]) {
		rest = rest[1:]
	}
	return len(s) - len(rest)
}

// firstEight returns the first eight bytes of s, the first one lowest.
func firstEight(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// specialBytes sets the highest bit of each byte of x that needs an escape or is not ASCII. Bits above the lowest set
// one may be wrong. It returns zero if there is no such byte.
func specialBytes(x uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	// With one bit flipped, a quote directly follows the control characters.
	control, slash := x^('"'^' ')*ones, x^('\\'*ones)
	return ((control-(' '+1)*ones)&^control | (slash-ones)&^slash | x) & highs
}

func isPlainByte(c byte) bool { return c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' }

// appendQuoted appends a string as JSON. It returns false if the string is not UTF-8, or contains one of the two
// separators that the protocol escapes.
func appendQuoted(dst []byte, s string) ([]byte, bool) {
	dst = append(dst, '"')
	checked := false
	for i := 0; ; {
		at := firstSpecial(s, i)
		dst = append(dst, s[i:at]...)
		if at == len(s) {
			return append(dst, '"'), true
		}
		i = at + 1
		switch c := s[at]; {
		case c >= utf8.RuneSelf:
			if !checked {
				if checked = utf8.ValidString(s[at:]) && !strings.Contains(s[at:], "\u2028") &&
					!strings.Contains(s[at:], "\u2029"); !checked {
					return dst, false
				}
			}
			for i < len(s) && s[i] >= utf8.RuneSelf {
				i++
			}
			dst = append(dst, s[at:i]...)
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		default:
			if short := strings.IndexByte("\b\f\n\r\t", c); short >= 0 {
				dst = append(dst, '\\', "bfnrt"[short])
			} else {
				const hex = "0123456789abcdef"
				dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			}
		}
	}
}

// BeginsEscape reports whether the backslash at i begins an escape.
func BeginsEscape(raw []byte, i int) bool {
	n := 0
	for ; i >= 0 && raw[i] == '\\'; i-- {
		n++
	}
	return n%2 == 1
}
