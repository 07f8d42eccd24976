package readapi_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pdpp/internal/grants"
)

// guessed is how often each of the two cases is measured.
const guessed = 24

// The time that a filter on a granted field takes does not tell what a field that was
// not granted holds. Each record has a large hidden text, which holds the one guess and
// not the other. The median of the two cases is compared by a wide margin: looking
// through the hidden text shows as a factor of two and more.
func TestFilterTellsNothingOfAHiddenField(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		w := newWorldOver(t, open(t))
		l := w.connect("mine")
		// Nothing before its end begins like the guess that is right: a search through the
		// text would stop early for it, and go on for the one that is wrong.
		secret := "7391" + strings.Repeat("-", 200<<10)
		for _, key := range []string{"a", "b", "c", "d"} {
			w.put(l, note(key, at(2, 1), "title", "body", secret, "home"))
		}
		token := w.grant("", grants.Stream{ConnectionID: "mine", Stream: "notes", Fields: []string{"folder"}})
		took := func(guess string) time.Duration {
			begin := time.Now()
			if p := w.ask(token, "/v1/streams/notes/records?filter[folder]="+guess).page(t); p.ids() != "" {
				t.Fatalf("found %s", p.ids())
			}
			return time.Since(begin)
		}
		var right, wrong []time.Duration
		for range guessed {
			right, wrong = append(right, took("7391")), append(wrong, took("7392"))
		}
		slices.Sort(right)
		slices.Sort(wrong)
		ratio := float64(right[guessed/2]) / float64(wrong[guessed/2])
		t.Logf("median %v when the hidden field holds the guess, %v when not: ratio %.2f", right[guessed/2], wrong[guessed/2], ratio)
		if ratio > 1.5 || ratio < 1/1.5 {
			t.Errorf("the time tells what a hidden field holds: ratio %.2f", ratio)
		}
	})
}
