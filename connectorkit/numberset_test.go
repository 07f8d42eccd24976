package connectorkit

import (
	"slices"
	"testing"
)

// FuzzNumbers reads bookmarks of others.
func FuzzNumbers(f *testing.F) {
	f.Add("")
	some := []int64{1, 2, 900, 1 << 40}
	kept := (&NumberSet{all: some}).String()
	if again := ParseNumberSet(kept); !slices.Equal(again.all, some) {
		f.Fatalf("%v became %v", some, again.all)
	}
	f.Add(kept)
	f.Fuzz(func(t *testing.T, text string) {
		s := ParseNumberSet(text)
		if !slices.IsSorted(s.all) {
			t.Fatalf("%v is not in order", s.all)
		}
		if again := ParseNumberSet(s.String()); !slices.Equal(again.all, s.all) {
			t.Fatalf("%v became %v", s.all, again.all)
		}
	})
}
