package files

import (
	"math/rand/v2"
	"time"
)

// bare is a tree without files of lines: chance, words, and what ever existed, for worlds of another
// form.
func bare(dir string, seed uint64) *Tree {
	return &Tree{dir: dir, rng: rand.New(rand.NewPCG(seed, 7)), ever: map[string][]Item{}, clock: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)}
}

// note remembers that things exist in this form.
func (t *Tree) note(items ...Item) {
	for _, i := range items {
		at := i.Stream + "\x00" + i.Key
		t.ever[at] = append(t.ever[at], i)
	}
}
