package secretmask

import (
	"encoding/binary"
	"strings"
	"sync"
)

// secretScanner finds the prefixes of secretKinds in a text, fast enough for every record. It reads only every second
// pair of bytes: two overlapping pairs of each prefix are in its table, so that one of them is always read.
type secretScanner struct {
	pairs   [1 << 16]uint8     // of each pair of bytes, the index of its marks
	marks   [][]prefixMark     // the first is empty
	byFirst [256][]*secretKind // the kinds by the first byte of their prefix, in the order of the table
}

// prefixMark is a pair of bytes in a prefix.
type prefixMark struct {
	kind *secretKind
	at   int // of the pair in the prefix
	// Most texts with the pair and without the prefix differ in the byte at this distance from the pair.
	beside int
	third  byte
	fold   byte // the bit by which the cases of a letter differ, if they do not matter
}

// scanStride is the distance between two pairs that the scanner reads, and the number of marks of a prefix.
const scanStride = 2

// sharedScanner builds the scanner when a run first masks something.
var sharedScanner = sync.OnceValue(func() *secretScanner {
	s := &secretScanner{marks: [][]prefixMark{nil}}
	for i := range secretKinds {
		kind := &secretKinds[i]
		first := rarestPairs(kind.prefix)
		fold := byte(0)
		if kind.fold {
			fold = 'a' - 'A'
		}
		for at := first; at < first+scanStride; at++ {
			mark := prefixMark{kind, at, 2, kind.prefix[first+2], fold}
			if at > first {
				mark.beside, mark.third = -1, kind.prefix[first]
			}
			for _, pair := range spellings(kind.prefix[at:at+2], kind.fold) {
				n := binary.LittleEndian.Uint16([]byte(pair))
				if s.pairs[n] == 0 {
					s.pairs[n] = uint8(len(s.marks))
					s.marks = append(s.marks, nil)
				}
				s.marks[s.pairs[n]] = append(s.marks[s.pairs[n]], mark)
			}
		}
		for _, c := range spellings(kind.prefix[:1], kind.fold) {
			s.byFirst[c[0]] = append(s.byFirst[c[0]], kind)
		}
	}
	return s
})

// spellings returns a text in every mixture of cases, if they do not matter.
func spellings(text string, fold bool) []string {
	if !fold || text == "" {
		return []string{text}
	}
	var all []string
	for _, rest := range spellings(text[1:], fold) {
		all = append(all, text[:1]+rest, strings.ToUpper(text[:1])+rest)
	}
	return all
}

// usualBytes holds bytes of texts, each more usual than those before it; all others are rarer.
const usualBytes = "-zqxj.kvbpygfwmucldrhsnioate"

// rarestPairs returns where in a prefix the three bytes are that make the two rarest pairs.
func rarestPairs(prefix string) (place int) {
	weight := func(i int) int { return 2 + strings.IndexByte(usualBytes, prefix[i]) }
	rarest := 0
	for i := range len(prefix) - 2 {
		if w := weight(i+1) * (weight(i) + weight(i+2)); i == 0 || w < rarest {
			place, rarest = i, w
		}
	}
	return place
}

// nextPrefix returns where the next prefix begins of those with a mark at i or behind, and where that mark is. Both
// are the length of the text when there is none.
func (s *secretScanner) nextPrefix(raw []byte, i int) (begin, at int) {
	b := raw[i:]
	for ; len(b) >= 16; b = b[16:] {
		x, y := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
		if s.pairs[uint16(x)]|s.pairs[uint16(x>>16)]|s.pairs[uint16(x>>32)]|s.pairs[uint16(x>>48)]|
			s.pairs[uint16(y)]|s.pairs[uint16(y>>16)]|s.pairs[uint16(y>>32)]|s.pairs[uint16(y>>48)] == 0 {
			continue
		}
		for at = len(raw) - len(b); x != 0 || y != 0; at += scanStride {
			if marks := s.pairs[uint16(x)]; marks != 0 {
				if begin = s.prefixBeginning(raw, at, marks); begin >= 0 {
					return begin, at
				}
			}
			x, y = x>>16|y<<48, y>>16
		}
	}
	for ; len(b) >= scanStride; b = b[scanStride:] {
		at = len(raw) - len(b)
		if begin = s.prefixBeginning(raw, at, s.pairs[binary.LittleEndian.Uint16(b)]); begin >= 0 {
			return begin, at
		}
	}
	return len(raw), len(raw)
}

// prefixBeginning returns where the prefix begins that has one of the marks at i, and -1 when there is none.
func (s *secretScanner) prefixBeginning(raw []byte, i int, marks uint8) int {
	for k := range s.marks[marks] {
		m := &s.marks[marks][k]
		if third := i + m.beside; third >= 0 && third < len(raw) && raw[third]|m.fold == m.third &&
			m.kind.startsAt(raw, i-m.at) {
			return i - m.at
		}
	}
	return -1
}

// findSecret returns which secret has its prefix at i, and where it lies. The kind is empty when there is none.
func (s *secretScanner) findSecret(raw []byte, i int) (kind string, from, to int) {
	for _, k := range s.byFirst[raw[i]] {
		if k.startsAt(raw, i) {
			if from, to = k.locate(raw, i); to > 0 {
				return k.name, from, to
			}
		}
	}
	return "", 0, 0
}
