package connectorkit

import (
	"encoding/binary"
	"slices"
	"strings"
)

// bytePair is a pair of bytes in the fixed text that a secret begins with. Only locations with a trace need a check.
type bytePair struct {
	text   string // fixed
	at     int    // of the pair in text
	beside int    // offset of a third byte, which differs in most text that is not a secret
	third  byte
	fold   byte // the case bit of a letter, if case does not matter
}

// traceStride is the distance between checks. Each fixed text has two adjacent traces, so that one of them is
// found.
const traceStride = 2

var (
	tracePairs [1 << 16]uint8 // index in traces for each pair of bytes
	bytePairs  = [][]bytePair{nil}
)

func init() {
	pairs := tracesByPair{}
	for _, s := range secretShapes {
		pairs.add(s.prefix, s.chars, 0)
	}
	pairs.add(webTokenBegin, dashed, 0)
	pairs.add(keyBegin, nil, 0)
	pairs.add(addressMark, nil, 0)
	pairs.add(authorizationRest, nil, 'a'-'A')
	for pair, list := range pairs {
		at := slices.IndexFunc(bytePairs, func(known []bytePair) bool { return slices.Equal(known, list) })
		if at < 0 {
			at = len(bytePairs)
			bytePairs = append(bytePairs, list)
		}
		tracePairs[pair] = uint8(at)
	}
}

type tracesByPair map[uint16][]bytePair

// add adds the two pairs of the three least common adjacent bytes in a fixed text. follow are the possible bytes
// after the text, if known.
func (p tracesByPair) add(text string, follow *[256]bool, fold byte) {
	first := leastUsual(text, follow != nil)
	if first+2 < len(text) {
		p.pair(text[first], text[first+1], bytePair{text, first, 2, text[first+2], fold})
		p.pair(text[first+1], text[first+2], bytePair{text, first + 1, -1, text[first], fold})
		return
	}
	p.pair(text[first], text[first+1], bytePair{text, first, 0, text[first], fold})
	for c, follows := range follow {
		if follows {
			p.pair(text[first+1], byte(c), bytePair{text, first + 1, -1, text[first], fold})
		}
	}
}

// pair adds a trace for a pair of bytes, and for its other cases.
func (p tracesByPair) pair(a, b byte, t bytePair) {
	for _, pair := range [][2]byte{{a, b}, {a &^ t.fold, b}, {a, b &^ t.fold}, {a &^ t.fold, b &^ t.fold}} {
		n := binary.LittleEndian.Uint16(pair[:])
		if !slices.Contains(p[n], t) {
			p[n] = append(p[n], t)
		}
	}
}

// commonBytes lists bytes from rare to common. Bytes that are not listed are the rarest.
const commonBytes = "-zqxj.kvbpygfwmucldrhsnioate"

// leastUsual returns the location of the three bytes with the rarest pairs. The third may follow the text.
func leastUsual(text string, follow bool) (place int) {
	weight := func(i int) int {
		if i == len(text) {
			return len(commonBytes)
		}
		return 2 + strings.IndexByte(commonBytes, text[i])
	}
	last := len(text) - 3
	if follow {
		last++
	}
	least := 0
	for i := range last + 1 {
		if w := weight(i+1) * (weight(i) + weight(i+2)); i == 0 || w < least {
			place, least = i, w
		}
	}
	return place
}

// nextTrace returns where the next fixed text with a trace at or after i begins, and the location of its trace.
// It returns the length if there is none.
func nextTrace(raw []byte, i int) (begin, at int) {
	b := raw[i:]
	for ; len(b) >= 16; b = b[16:] {
		x, y := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
		if tracePairs[uint16(x)]|tracePairs[uint16(x>>16)]|tracePairs[uint16(x>>32)]|tracePairs[uint16(x>>48)]|
			tracePairs[uint16(y)]|tracePairs[uint16(y>>16)]|tracePairs[uint16(y>>32)]|tracePairs[uint16(y>>48)] == 0 {
			continue
		}
		for at = len(raw) - len(b); x != 0 || y != 0; at += traceStride {
			if list := tracePairs[uint16(x)]; list != 0 {
				if begin = textAtTrace(raw, at, list); begin >= 0 {
					return begin, at
				}
			}
			x, y = x>>16|y<<48, y>>16
		}
	}
	for ; len(b) >= traceStride; b = b[traceStride:] {
		at = len(raw) - len(b)
		if begin = textAtTrace(raw, at, tracePairs[binary.LittleEndian.Uint16(b)]); begin >= 0 {
			return begin, at
		}
	}
	return len(raw), len(raw)
}

// textAtTrace returns where the fixed text with a trace at i begins, or -1.
func textAtTrace(raw []byte, i int, list uint8) int {
	for k := range bytePairs[list] {
		t := &bytePairs[list][k]
		if third := i + t.beside; third >= 0 && third < len(raw) && raw[third]|t.fold == t.third && t.found(raw, i-t.at) {
			return i - t.at
		}
	}
	return -1
}

// found reports whether the fixed text is present.
func (t *bytePair) found(raw []byte, i int) bool {
	if i < 0 || len(raw)-i < len(t.text) {
		return false
	}
	there := raw[i : i+len(t.text)]
	return string(there) == t.text || t.fold != 0 && strings.EqualFold(string(there), t.text)
}
