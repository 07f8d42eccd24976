package connectorkit

import (
	"encoding/base64"
	"encoding/binary"
	"slices"
)

// Numbers is a set of positive numbers, by which a provider tells things apart, as a bookmark
// remembers them: a byte or two each.
type Numbers struct{ all []int64 } // sorted

// NumbersOf reads a bookmark; one that is not ours holds nothing.
func NumbersOf(text string) *Numbers {
	packed, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return &Numbers{}
	}
	s, last := &Numbers{}, int64(0)
	for len(packed) > 0 {
		step, n := binary.Uvarint(packed)
		if n <= 0 || step == 0 || step > 1<<62 || last > 1<<62 {
			return &Numbers{}
		}
		last += int64(step)
		s.all = append(s.all, last)
		packed = packed[n:]
	}
	return s
}

// String packs the set: each number as its distance from the one before.
func (s *Numbers) String() string {
	packed, last := make([]byte, 0, 2*len(s.all)), int64(0)
	for _, n := range s.all {
		packed = binary.AppendUvarint(packed, uint64(n-last))
		last = n
	}
	return base64.RawStdEncoding.EncodeToString(packed)
}

// Len is how many there are.
func (s *Numbers) Len() int { return len(s.all) }

// Has tells whether a number is one of them.
func (s *Numbers) Has(n int64) bool {
	_, there := slices.BinarySearch(s.all, n)
	return there
}

// Add puts a number in; one that is not positive is none.
func (s *Numbers) Add(n int64) {
	if at, there := slices.BinarySearch(s.all, n); !there && n > 0 {
		s.all = slices.Insert(s.all, at, n)
	}
}

// Remove takes a number out.
func (s *Numbers) Remove(n int64) {
	if at, there := slices.BinarySearch(s.all, n); there {
		s.all = slices.Delete(s.all, at, at+1)
	}
}

// All are the members in order.
func (s *Numbers) All() []int64 { return slices.Clone(s.all) }

// Between are the members after one number and before another, both left out; no bound above when
// that is zero.
func (s *Numbers) Between(after, before int64) []int64 {
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
