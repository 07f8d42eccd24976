package readapi_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/share/grants"
)

// Number of measurements per round. Noise of a busy machine differs from round to round; a leak is there in all of
// them.
const (
	guessed = 24
	rounds  = 3
)

// The time of a filter on a granted field does not reveal an ungranted field. Each record has a large hidden text
// that contains one guess and not the other. The fastest of each case are compared by a wide margin: searching the
// hidden text would show as a large factor.
//
//pdpp:tier unraced
func TestFilterTellsNothingOfAHiddenField(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		w := newWorldOver(t, open(t))
		l := w.connect("mine")
		// A search through the text would find the guess that is right at once, and would
		// compare the one that is wrong with nearly all of itself at every place.
		long := strings.Repeat("a", 500)
		right, wrong := long+"7391", long+"7392"
		secret := right + strings.Repeat("a", 200<<10)
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
		for round := 1; ; round++ {
			held, missed := took(right), took(wrong)
			for range guessed - 1 {
				held, missed = min(held, took(right)), min(missed, took(wrong))
			}
			ratio := float64(held) / float64(missed)
			t.Logf("%v when the hidden field holds the guess, %v when not: ratio %.2f", held, missed, ratio)
			if ratio <= 2 && ratio >= 0.5 {
				return
			}
			if round == rounds {
				t.Fatalf("the time tells what a hidden field holds: ratio %.2f", ratio)
			}
		}
	})
}
