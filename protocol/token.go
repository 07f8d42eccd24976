package protocol

import (
	"encoding/binary"
	"math/bits"
)

const everyLowBit, everyHighBit = 0x0101010101010101, 0x8080808080808080

// textStops sets the highest bit of each byte of x that is a quote, a backslash or a control character. Bits
// above the lowest set one may be wrong. It returns zero if there is no such byte.
func textStops(x uint64) uint64 {
	// With one bit flipped, a quote directly follows the control characters.
	control, slash := x^('"'^' ')*everyLowBit, x^('\\'*everyLowBit)
	return ((control-(' '+1)*everyLowBit)&^control | (slash-everyLowBit)&^slash) & everyHighBit
}

// TextStop returns the index of the first quote, backslash or control character from i on, or the length of b if
// there is none. ascii reports whether all bytes before it are ASCII.
func TextStop(b []byte, i int) (at int, ascii bool) {
	high := uint64(0)
	rest := b[i:]
	for len(rest) >= 16 {
		x, y := binary.LittleEndian.Uint64(rest), binary.LittleEndian.Uint64(rest[8:])
		if found := textStops(x); found != 0 {
			return firstStop(b, rest, x, found, high)
		}
		high |= x
		if found := textStops(y); found != 0 {
			return firstStop(b, rest[8:], y, found, high)
		}
		high |= y
		rest = rest[16:]
	}
	if len(rest) >= 8 {
		x := binary.LittleEndian.Uint64(rest)
		if found := textStops(x); found != 0 {
			return firstStop(b, rest, x, found, high)
		}
		high |= x
		rest = rest[8:]
	}
	for len(rest) > 0 && rest[0] != '"' && rest[0] != '\\' && rest[0] >= ' ' {
		high |= uint64(rest[0])
		rest = rest[1:]
	}
	return len(b) - len(rest), high&everyHighBit == 0
}

// firstStop is TextStop for a stop in the first bytes of rest, which are x.
func firstStop(b, rest []byte, x, found, high uint64) (at int, ascii bool) {
	n := bits.TrailingZeros64(found) / 8
	return len(b) - len(rest) + n, (high|x&(1<<(8*n)-1))&everyHighBit == 0
}

// EscapeLength returns the length of the escape at the start of b, or zero.
func EscapeLength(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) < 6 {
			return 0
		}
		for _, c := range b[2:6] {
			if !(c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f') {
				return 0
			}
		}
		return 6
	}
	return 0
}

// NumberLength returns the length of the number at the start of b, or zero.
func NumberLength(b []byte) int {
	n := 0
	digits := func() bool {
		start := n
		for n < len(b) && b[n] >= '0' && b[n] <= '9' {
			n++
		}
		return n > start
	}
	if n < len(b) && b[n] == '-' {
		n++
	}
	whole := n
	if !digits() || b[whole] == '0' && n > whole+1 {
		return 0
	}
	if n < len(b) && b[n] == '.' {
		if n++; !digits() {
			return 0
		}
	}
	if n < len(b) && b[n]|0x20 == 'e' {
		if n++; n < len(b) && (b[n] == '+' || b[n] == '-') {
			n++
		}
		if !digits() {
			return 0
		}
	}
	return n
}
