package imap

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestSetsAreSets holds every operation against plain maps.
func TestSetsAreSets(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) (uidSet, map[uint32]bool) {
			var set uidSet
			plain := map[uint32]bool{}
			for range rapid.IntRange(0, 12).Draw(t, name) {
				from, to := rapid.Uint32Range(1, 60).Draw(t, "from"), rapid.Uint32Range(1, 60).Draw(t, "to")
				set = set.withRange(from, to)
				for uid := min(from, to); uid <= max(from, to); uid++ {
					plain[uid] = true
				}
			}
			return set, plain
		}
		hold := func(what string, set uidSet, in func(uint32) bool) {
			n := int64(0)
			for uid := uint32(1); uid <= 62; uid++ {
				if set.containsUID(uid) != in(uid) {
					t.Fatalf("%s: %d in %s is %v", what, uid, set, !in(uid))
				}
				if in(uid) {
					n++
				}
			}
			if set.countUIDs() != n {
				t.Fatalf("%s: %s has %d, counts %d", what, set, n, set.countUIDs())
			}
			for i := 1; i < len(set); i++ {
				if set[i-1].to+1 >= set[i].from {
					t.Fatalf("%s: %v touches", what, set)
				}
			}
			if again, err := parseUIDSet(set.String()); err != nil || !slices.Equal(again, set) {
				t.Fatalf("%s: %s reads as %s: %v", what, set, again, err)
			}
		}
		a, pa := draw("a")
		b, pb := draw("b")
		before := a.String() + b.String()
		hold("add", a, func(u uint32) bool { return pa[u] })
		hold("minus", a.difference(b), func(u uint32) bool { return pa[u] && !pb[u] })
		hold("both", a.intersection(b), func(u uint32) bool { return pa[u] && pb[u] })
		hold("with", a.unionWith(b), func(u uint32) bool { return pa[u] || pb[u] })
		n := rapid.IntRange(0, 70).Draw(t, "n")
		var order []uint32
		_ = a.eachDescending(func(u uint32) error { order = append(order, u); return nil })
		newest := map[uint32]bool{}
		for _, u := range order[:min(n, len(order))] {
			newest[u] = true
		}
		hold("newest", a.highestUIDs(n), func(u uint32) bool { return newest[u] })
		if !slices.IsSortedFunc(order, func(x, y uint32) int { return int(y) - int(x) }) {
			t.Fatalf("not from the highest down: %v", order)
		}
		if a.String()+b.String() != before {
			t.Fatalf("changed what it was given: %s", before)
		}
	})
	top := uidSet(nil).withRange(1, 1<<32-1)
	if top.countUIDs() != 1<<32-1 || top.difference(uidSet{{5, 5}}).String() != "1:4,6:4294967295" ||
		len(top.withRange(1<<32-1, 1<<32-1)) != 1 {
		t.Errorf("%s", top.difference(uidSet{{5, 5}}))
	}
}
