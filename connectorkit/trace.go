package connectorkit

import (
	"encoding/binary"
	"slices"
	"strings"
)

// A trace is a pair of bytes that a secret has in the fixed text that it begins with. Only where a trace
// is has anything to be looked at.
type trace struct {
	text   string // fixed
	at     int    // of the pair in it
	beside int    // of a third byte, from the pair: most that is no secret differs there
	third  byte
	fold   byte // the bit of a letter's case where that does not count
}

// traceStride is how far apart the looks for traces are. Each fixed text has two traces, one behind
// the other, so that one of them is met.
const traceStride = 2

var (
	tracePairs [1 << 16]uint8 // of each pair of bytes, the place of what it is a trace of in traces
	traces     = [][]trace{nil}
)

func init() {
	pairs := tracesByPair{}
	for _, s := range shapes {
		pairs.add(s.prefix, s.chars, 0)
	}
	pairs.add(webTokenBegin, dashed, 0)
	pairs.add(keyBegin, nil, 0)
	pairs.add(addressMark, nil, 0)
	pairs.add(authorizationRest, nil, 'a'-'A')
	for pair, list := range pairs {
		at := slices.IndexFunc(traces, func(known []trace) bool { return slices.Equal(known, list) })
		if at < 0 {
			at = len(traces)
			traces = append(traces, list)
		}
		tracePairs[pair] = uint8(at)
	}
}

type tracesByPair map[uint16][]trace

// add adds the two pairs of the three bytes that are the least usual in a fixed text, behind which one
// of certain bytes follows if it is known which.
func (p tracesByPair) add(text string, follow *[256]bool, fold byte) {
	first := leastUsual(text, follow != nil)
	if first+2 < len(text) {
		p.pair(text[first], text[first+1], trace{text, first, 2, text[first+2], fold})
		p.pair(text[first+1], text[first+2], trace{text, first + 1, -1, text[first], fold})
		return
	}
	p.pair(text[first], text[first+1], trace{text, first, 0, text[first], fold})
	for c, follows := range follow {
		if follows {
			p.pair(text[first+1], byte(c), trace{text, first + 1, -1, text[first], fold})
		}
	}
}

// pair adds a trace for a pair of bytes, and for its other spellings.
func (p tracesByPair) pair(a, b byte, t trace) {
	for _, pair := range [][2]byte{{a, b}, {a &^ t.fold, b}, {a, b &^ t.fold}, {a &^ t.fold, b &^ t.fold}} {
		n := binary.LittleEndian.Uint16(pair[:])
		if !slices.Contains(p[n], t) {
			p[n] = append(p[n], t)
		}
	}
}

// usual are bytes, each more usual than those before it; others are the least usual.
const usual = "-zqxj.kvbpygfwmucldrhsnioate"

// leastUsual is where in a text the three bytes are of which the two pairs are the least usual; the third
// may follow the text.
func leastUsual(text string, follow bool) (place int) {
	weight := func(i int) int {
		if i == len(text) {
			return len(usual)
		}
		return 2 + strings.IndexByte(usual, text[i])
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

// nextTrace gives where the next fixed text begins of those whose traces are at i or behind, and where
// its trace is; the length when there is none.
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
				if begin = traced(raw, at, list); begin >= 0 {
					return begin, at
				}
			}
			x, y = x>>16|y<<48, y>>16
		}
	}
	for ; len(b) >= traceStride; b = b[traceStride:] {
		at = len(raw) - len(b)
		if begin = traced(raw, at, tracePairs[binary.LittleEndian.Uint16(b)]); begin >= 0 {
			return begin, at
		}
	}
	return len(raw), len(raw)
}

// traced is where the fixed text begins that has its trace at i, of those of a list; -1 when there is none.
func traced(raw []byte, i int, list uint8) int {
	for k := range traces[list] {
		t := &traces[list][k]
		if third := i + t.beside; third >= 0 && third < len(raw) && raw[third]|t.fold == t.third && t.found(raw, i-t.at) {
			return i - t.at
		}
	}
	return -1
}

// found reports whether the fixed text is there.
func (t *trace) found(raw []byte, i int) bool {
	if i < 0 || len(raw)-i < len(t.text) {
		return false
	}
	there := raw[i : i+len(t.text)]
	return string(there) == t.text || t.fold != 0 && strings.EqualFold(string(there), t.text)
}
