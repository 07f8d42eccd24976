package files

import (
	"math/rand/v2"
	"time"
)

// newEmptyTree returns a tree without line files, for worlds of another form. It provides randomness, words and the
// history of items.
func newEmptyTree(dir string, seed uint64) *Tree {
	return &Tree{dir: dir, rng: rand.New(rand.NewPCG(seed, 7)), ever: map[string][]Item{},
		clock: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)}
}

// rememberItems remembers that things exist in this form.
func (t *Tree) rememberItems(items ...Item) {
	for _, i := range items {
		at := i.Stream + "\x00" + i.Key
		t.ever[at] = append(t.ever[at], i)
	}
}
