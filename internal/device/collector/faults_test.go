package collector

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"testing"
)

// TestNothingIsLostUnderRandomFaults lets a diary grow over several passes while
// the server refuses, stalls, breaks off before or after it has done its part,
// or forgets the device. Once it behaves, one recovery brings everything home.
//
//pdpp:tier unraced
func TestNothingIsLostUnderRandomFaults(t *testing.T) {
	const histories = 15
	var faults atomic.Int64
	t.Run("histories", func(t *testing.T) {
		for seed := range uint64(histories) {
			t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
				t.Parallel()
				b, dice, length := newBed(t), rand.New(rand.NewPCG(seed, 7)), 0
				for pass := range 2 + dice.Uint64N(3) {
					length += dice.IntN(400)
					b.write(t, days(1, length)...)
					b.mu.Lock()
					b.intercept = randomFaults(rand.New(rand.NewPCG(seed, pass)), &faults)
					b.mu.Unlock()
					if _, err := b.collector(t).Run(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				b.behave()
				for range 2 { // the first may only bring the backlog home
					if _, err := b.collector(t).Recover(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				b.mustRun(t)
				b.mustHave(t, "notes", days(1, length)...)
				if length > 0 {
					b.mustHaveState(t, "notes", fmt.Sprintf(`{"n":%d}`, length))
				}
			})
		}
	})
	t.Attr("result", fmt.Sprintf("%d histories with %d faults: ground truth == accepted, no record twice, no cursor ahead",
		histories, faults.Load()))
}

// randomFaults answers about a third of all requests badly.
func randomFaults(dice *rand.Rand, count *atomic.Int64) func(int, string, bool, http.ResponseWriter) bool {
	return func(_ int, _ string, _ bool, w http.ResponseWriter) bool {
		roll := dice.IntN(24)
		if roll < 5 {
			count.Add(1)
		}
		switch roll {
		case 0:
			w.Header().Set("Retry-After", "2")
			w.WriteHeader(http.StatusServiceUnavailable)
		case 1:
			w.WriteHeader(http.StatusInternalServerError)
		case 2:
			w.WriteHeader(http.StatusBadRequest)
		case 3:
			w.WriteHeader(http.StatusUnauthorized)
		case 4:
			panic(http.ErrAbortHandler)
		default:
			return false
		}
		return true
	}
}
