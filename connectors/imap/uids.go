package imap

import (
	"slices"
	"strconv"
	"strings"
)

// uidRange is a range of UIDs, both ends included.
type uidRange struct{ from, to uint32 }

// uidSet is a set of UIDs: spans in their order that neither touch nor overlap. The zero value is empty.
type uidSet []uidRange

// withRange returns the set with a range added.
func (u uidSet) withRange(from, to uint32) uidSet {
	if from > to {
		from, to = to, from
	}
	if n := len(u); n > 0 && u[n-1].to < from && u[n-1].to+1 == from { // the usual case
		u[n-1].to = to
		return u
	} else if n == 0 || u[n-1].to < from {
		return append(u, uidRange{from, to})
	}
	first, _ := slices.BinarySearchFunc(u, from, func(s uidRange, at uint32) int {
		if uint64(s.to)+1 < uint64(at) {
			return -1
		}
		return 1
	})
	last := first
	for last < len(u) && uint64(u[last].from) <= uint64(to)+1 {
		from, to = min(from, u[last].from), max(to, u[last].to)
		last++
	}
	return slices.Replace(u, first, last, uidRange{from, to})
}

func (u uidSet) containsUID(uid uint32) bool {
	_, found := slices.BinarySearchFunc(u, uid, func(s uidRange, at uint32) int {
		switch {
		case s.to < at:
			return -1
		case s.from > at:
			return 1
		}
		return 0
	})
	return found
}

func (u uidSet) countUIDs() (n int64) {
	for _, s := range u {
		n += int64(s.to) - int64(s.from) + 1
	}
	return n
}

// difference returns the UIDs that are in the set and not in the other.
func (u uidSet) difference(other uidSet) uidSet {
	var out uidSet
	i := 0
	for _, s := range u {
		from := uint64(s.from)
		for i < len(other) && uint64(other[i].to) < from {
			i++
		}
		for j := i; from <= uint64(s.to); j++ {
			if j == len(other) || other[j].from > s.to {
				out = append(out, uidRange{uint32(from), s.to})
				break
			}
			if uint64(other[j].from) > from {
				out = append(out, uidRange{uint32(from), other[j].from - 1})
			}
			from = uint64(other[j].to) + 1
		}
	}
	return out
}

// intersection returns the UIDs that are in both sets.
func (u uidSet) intersection(other uidSet) uidSet { return u.difference(u.difference(other)) }

// unionWith returns the UIDs that are in either set.
func (u uidSet) unionWith(other uidSet) uidSet {
	out := slices.Clone(u)
	for _, s := range other {
		out = out.withRange(s.from, s.to)
	}
	return out
}

// highestUIDs returns the n highest UIDs.
func (u uidSet) highestUIDs(n int) uidSet {
	var out uidSet
	for i := len(u) - 1; i >= 0 && n > 0; i-- {
		s := u[i]
		if size := int64(s.to) - int64(s.from) + 1; size > int64(n) {
			s.from = s.to - uint32(n) + 1
		}
		n -= int(s.to - s.from + 1)
		out = append(out, s)
	}
	slices.Reverse(out)
	return out
}

// eachDescending calls f with every UID, from the highest down, until it fails.
func (u uidSet) eachDescending(f func(uint32) error) error {
	for i := len(u) - 1; i >= 0; i-- {
		for uid := u[i].to; ; uid-- {
			if err := f(uid); err != nil {
				return err
			}
			if uid == u[i].from {
				break
			}
		}
	}
	return nil
}

// String is the set as commands and bookmarks have it.
func (u uidSet) String() string {
	var b strings.Builder
	for i, s := range u {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatUint(uint64(s.from), 10))
		if s.to != s.from {
			b.WriteByte(':')
			b.WriteString(strconv.FormatUint(uint64(s.to), 10))
		}
	}
	return b.String()
}

// MarshalText and UnmarshalText let a set ride on a bookmark.
func (u uidSet) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

func (u *uidSet) UnmarshalText(text []byte) error {
	set, err := parseUIDSet(string(text))
	*u = set
	return err
}

// parseUIDSet reads a set. Zero and * are no UIDs.
func parseUIDSet(text string) (uidSet, error) {
	var out uidSet
	for text != "" {
		part := text
		part, text, _ = strings.Cut(text, ",")
		low, high, ranged := strings.Cut(part, ":")
		if !ranged {
			high = low
		}
		from, err := strconv.ParseUint(low, 10, 32)
		if err != nil {
			return nil, err
		}
		to, err := strconv.ParseUint(high, 10, 32)
		if err != nil {
			return nil, err
		}
		if from == 0 || to == 0 {
			return nil, strconv.ErrRange
		}
		out = out.withRange(uint32(from), uint32(to))
	}
	return out, nil
}
