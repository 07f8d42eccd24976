package protocol

import (
	"encoding/binary"
	"math/bits"
)

// TextStop is where the first quote, backslash or control character is, from i on, and the length when
// there is none; and whether all that comes before it is ASCII.
func TextStop(b []byte, i int) (at int, ascii bool) {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	high := uint64(0)
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		// With a bit turned, a quote lies right behind the control characters.
		control, slash := x^('"'^' ')*ones, x^('\\'*ones)
		// What borrows from the byte above is found itself, so that the lowest that is found is one.
		if found := ((control-(' '+1)*ones)&^control | (slash-ones)&^slash) & highs; found != 0 {
			n := bits.TrailingZeros64(found) / 8
			return i + n, (high|x&(1<<(8*n)-1))&highs == 0
		}
		high |= x
	}
	for ; i < len(b) && b[i] != '"' && b[i] != '\\' && b[i] >= ' '; i++ {
		high |= uint64(b[i])
	}
	return i, high&highs == 0
}

// EscapeLength is how long the escape is that b begins with; zero when it is none.
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

// NumberLength is how long the number is that b begins with; zero when it is none.
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
