package files

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"unicode/utf16"
)

// Plist writes a binary property list of maps, lists, texts, bytes and numbers.
func Plist(v any) []byte {
	w := plistWriter{out: []byte("bplist00")}
	top := w.writeObject(v)
	table := len(w.out)
	for _, at := range w.places {
		w.out = binary.BigEndian.AppendUint32(w.out, uint32(at))
	}
	w.out = append(w.out, 0, 0, 0, 0, 0, 0, 4, 2)
	for _, n := range []int{len(w.places), top, table} {
		w.out = binary.BigEndian.AppendUint64(w.out, uint64(n))
	}
	return w.out
}

type plistWriter struct {
	out    []byte
	places []int
}

func (w *plistWriter) writeObject(v any) int {
	var parts []int
	count := 0
	switch v := v.(type) {
	case []any:
		count = len(v)
		for _, e := range v {
			parts = append(parts, w.writeObject(e))
		}
	case map[string]any:
		names := slices.Sorted(maps.Keys(v))
		count = len(names)
		for _, name := range names {
			parts = append(parts, w.writeObject(name))
		}
		for _, name := range names {
			parts = append(parts, w.writeObject(v[name]))
		}
	}
	number := len(w.places)
	w.places = append(w.places, len(w.out))
	switch v := v.(type) {
	case int:
		w.out = binary.BigEndian.AppendUint64(append(w.out, 0x13), uint64(v))
	case float64:
		w.out = binary.BigEndian.AppendUint64(append(w.out, 0x23), math.Float64bits(v))
	case []byte:
		w.writeHeader(0x40, len(v))
		w.out = append(w.out, v...)
	case string:
		w.writeText(v)
	case []any:
		w.writeHeader(0xa0, count)
	default:
		w.writeHeader(0xd0, count)
	}
	for _, p := range parts {
		w.out = binary.BigEndian.AppendUint16(w.out, uint16(p))
	}
	return number
}

func (w *plistWriter) writeText(v string) {
	units := utf16.Encode([]rune(v))
	if len(units) == len(v) {
		w.writeHeader(0x50, len(v))
		w.out = append(w.out, v...)
		return
	}
	w.writeHeader(0x60, len(units))
	for _, u := range units {
		w.out = binary.BigEndian.AppendUint16(w.out, u)
	}
}

func (w *plistWriter) writeHeader(kind byte, n int) {
	if n < 15 {
		w.out = append(w.out, kind|byte(n))
		return
	}
	w.out = binary.BigEndian.AppendUint32(append(w.out, kind|0x0f, 0x12), uint32(n))
}
