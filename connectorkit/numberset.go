package connectorkit

import (
	"encoding/base64"
	"encoding/binary"
	"slices"
)

// NumberSet is a set of positive ids in the compact form of a bookmark: a byte or two each.
type NumberSet struct{ all []int64 } // sorted

// ParseNumberSet parses a bookmark. An unknown format counts as empty.
func ParseNumberSet(text string) *NumberSet {
	packed, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return &NumberSet{}
	}
	s, last := &NumberSet{}, int64(0)
	for len(packed) > 0 {
		step, n := binary.Uvarint(packed)
		if n <= 0 || step == 0 || step > 1<<62 || last > 1<<62 {
			return &NumberSet{}
		}
		last += int64(step)
		s.all = append(s.all, last)
		packed = packed[n:]
	}
	return s
}

// String encodes the set: each number as its difference from the previous one.
func (s *NumberSet) String() string {
	packed, last := make([]byte, 0, 2*len(s.all)), int64(0)
	for _, n := range s.all {
		packed = binary.AppendUvarint(packed, uint64(n-last))
		last = n
	}
	return base64.RawStdEncoding.EncodeToString(packed)
}

// Len returns the size of the set.
func (s *NumberSet) Len() int { return len(s.all) }

// Has reports whether the set contains n.
func (s *NumberSet) Has(n int64) bool {
	_, there := slices.BinarySearch(s.all, n)
	return there
}

// Add adds n, if it is positive.
func (s *NumberSet) Add(n int64) {
	if at, there := slices.BinarySearch(s.all, n); !there && n > 0 {
		s.all = slices.Insert(s.all, at, n)
	}
}

// Remove removes n.
func (s *NumberSet) Remove(n int64) {
	if at, there := slices.BinarySearch(s.all, n); there {
		s.all = slices.Delete(s.all, at, at+1)
	}
}

// All returns the members in order.
func (s *NumberSet) All() []int64 { return slices.Clone(s.all) }

// Between returns the members between after and before, both excluded. A before of zero means no upper bound.
func (s *NumberSet) Between(after, before int64) []int64 {
	from, found := slices.BinarySearch(s.all, after)
	if found {
		from++
	}
	to := len(s.all)
	if before > 0 {
		to, _ = slices.BinarySearch(s.all, before)
	}
	return slices.Clone(s.all[min(from, to):to])
}
