package connectorkit

import (
	"slices"
	"testing"
)

// FuzzNumbers reads bookmarks of others.
func FuzzNumbers(f *testing.F) {
	f.Add("")
	f.Add((&Numbers{all: []int64{1, 2, 900, 1 << 40}}).String())
	f.Fuzz(func(t *testing.T, text string) {
		s := NumbersOf(text)
		if !slices.IsSorted(s.all) {
			t.Fatalf("%v is not in order", s.all)
		}
		if again := NumbersOf(s.String()); !slices.Equal(again.all, s.all) {
			t.Fatalf("%v became %v", s.all, again.all)
		}
	})
}
