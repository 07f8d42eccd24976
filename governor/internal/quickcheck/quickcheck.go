// Package quickcheck runs a test with many random inputs. It needs the standard library only, so that the tests of
// the governor's module require no other module.
//
// Every input follows from one seed. A check that fails logs its seed and the values that it drew, and the flag
// -quickcheck.seed repeats exactly that input. Numbers are drawn from the ends of their range, from small values and
// from the whole range alike, because most faults are at the edges.
package quickcheck

import (
	"flag"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"
)

var (
	checks = flag.Int("quickcheck.checks", 100, "random inputs per check")
	seed   = flag.Uint64("quickcheck.seed", 0, "check only the input of this seed, which a failed check logged")
)

// maxLogged is the number of drawn values that a failed check logs.
const maxLogged = 200

// T is one run of a check. It draws values and reports failures like a testing.T.
type T struct {
	testing.TB
	random *rand.Rand
	drawn  []string
	count  int
}

// Check calls check with new random inputs until one fails or enough have passed.
func Check(t *testing.T, check func(*T)) {
	t.Helper()
	if *seed != 0 {
		run(t, *seed, check)
		return
	}
	for range *checks {
		if run(t, max(1, rand.Uint64()), check); t.Failed() {
			return
		}
	}
}

// run checks the input of one seed.
func run(tb testing.TB, seed uint64, check func(*T)) {
	t := &T{TB: tb, random: rand.New(rand.NewPCG(seed, seed))}
	passed := false
	defer func() { // after Fatal and after a panic too
		if tb.Failed() || !passed {
			tb.Logf("failed with -quickcheck.seed=%d, of %d values drawn: %s", seed, t.count, strings.Join(t.drawn, ", "))
		}
	}()
	check(t)
	passed = true
}

func (t *T) log(name string, value any) {
	if t.count++; t.count <= maxLogged {
		t.drawn = append(t.drawn, fmt.Sprintf("%s=%v", name, value))
	}
}

// Bool draws true or false.
func (t *T) Bool(name string) bool {
	v := t.random.IntN(2) == 1
	t.log(name, v)
	return v
}

// Int draws a number between low and high, both included.
func (t *T) Int(name string, low, high int) int {
	return int(t.Int64(name, int64(low), int64(high)))
}

// Int64 draws a number between low and high, both included.
func (t *T) Int64(name string, low, high int64) int64 {
	v := low + int64(t.upTo(uint64(high)-uint64(low)))
	t.log(name, v)
	return v
}

// Uint64 draws a number between low and high, both included.
func (t *T) Uint64(name string, low, high uint64) uint64 {
	v := low + t.upTo(high-low)
	t.log(name, v)
	return v
}

// upTo draws from zero to most, both included: an end, a number of any length in bits, or any number.
func (t *T) upTo(most uint64) uint64 {
	switch t.random.IntN(8) {
	case 0:
		return 0
	case 1:
		return most
	case 2, 3, 4:
		if mask := uint64(1)<<t.random.IntN(bits.Len64(most)+1) - 1; mask < most {
			most = mask
		}
	}
	if most == math.MaxUint64 {
		return t.random.Uint64()
	}
	return t.random.Uint64N(most + 1)
}

// Float draws a positive number between low and high: an end, a number of any magnitude, or any number.
func (t *T) Float(name string, low, high float64) float64 {
	v := low + (high-low)*t.random.Float64()
	switch t.random.IntN(8) {
	case 0:
		v = low
	case 1:
		v = high
	case 2, 3, 4:
		v = min(high, low*math.Pow(high/low, t.random.Float64()))
	}
	t.log(name, v)
	return v
}

// Pick draws one of the values.
func Pick[E any](t *T, name string, values ...E) E {
	v := values[t.random.IntN(len(values))]
	t.log(name, v)
	return v
}

// Slice draws a number of elements between least and most, both included, and each of them.
func Slice[E any](t *T, name string, least, most int, draw func() E) []E {
	out := make([]E, t.Int("length of "+name, least, most))
	for i := range out {
		out[i] = draw()
	}
	return out
}
