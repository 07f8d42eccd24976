package miniflux

import (
	"encoding/base64"
	"encoding/binary"
	"slices"
)

// known is a set of entries, by their numbers.
type known struct{ ids []int64 } // sorted

// knownOf reads a bookmark; one that is not ours knows nothing.
func knownOf(text string) *known {
	packed, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return &known{}
	}
	k, last := &known{}, int64(0)
	for len(packed) > 0 {
		step, n := binary.Uvarint(packed)
		if n <= 0 || step == 0 || step > 1<<62 || last > 1<<62 {
			return &known{}
		}
		last += int64(step)
		k.ids = append(k.ids, last)
		packed = packed[n:]
	}
	return k
}

// String packs the set: each number as its distance from the one before.
func (k *known) String() string {
	packed, last := make([]byte, 0, 2*len(k.ids)), int64(0)
	for _, id := range k.ids {
		packed = binary.AppendUvarint(packed, uint64(id-last))
		last = id
	}
	return base64.RawStdEncoding.EncodeToString(packed)
}

func (k *known) has(id int64) bool {
	_, there := slices.BinarySearch(k.ids, id)
	return there
}

func (k *known) add(id int64) {
	if at, there := slices.BinarySearch(k.ids, id); !there {
		k.ids = slices.Insert(k.ids, at, id)
	}
}

func (k *known) remove(id int64) {
	if at, there := slices.BinarySearch(k.ids, id); there {
		k.ids = slices.Delete(k.ids, at, at+1)
	}
}

// between are the members of a stretch.
func (k *known) between(s stretch) []int64 {
	from, found := slices.BinarySearch(k.ids, s.after)
	if found {
		from++
	}
	to := len(k.ids)
	if s.before > 0 {
		to, _ = slices.BinarySearch(k.ids, s.before)
	}
	return slices.Clone(k.ids[min(from, to):to])
}
