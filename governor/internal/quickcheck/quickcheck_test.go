package quickcheck

import (
	"fmt"
	"regexp"
	"runtime"
	"strconv"
	"testing"
)

// recorder is a test that keeps its failures to itself.
type recorder struct {
	testing.TB
	failed bool
	logged string
}

func (r *recorder) Failed() bool                 { return r.failed }
func (r *recorder) Logf(format string, a ...any) { r.logged = fmt.Sprintf(format, a...) }
func (r *recorder) Fatal(...any) {
	r.failed = true
	runtime.Goexit()
}

// inGoroutine waits for a function that may end its goroutine.
func inGoroutine(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}

// A failed check logs a seed that draws the same values again.
func TestSeedRepeats(t *testing.T) {
	t.Parallel()
	var first, again [3]any
	check := func(into *[3]any, fail bool) func(*T) {
		return func(t *T) {
			into[0], into[1] = t.Int("n", -5, 1e9), t.Float("f", 1e-3, 1e4)
			into[2] = len(Slice(t, "s", 1, 40, func() bool { return t.Bool("b") }))
			if fail {
				t.Fatal()
			}
		}
	}
	r := &recorder{TB: t}
	inGoroutine(func() { run(r, 12345, check(&first, true)) })
	m := regexp.MustCompile(`seed=(\d+), of \d+ values drawn: n=(-?\d+), `).FindStringSubmatch(r.logged)
	if m == nil || m[2] != strconv.Itoa(first[0].(int)) {
		t.Fatalf("drew %v, logged %q", first, r.logged)
	}
	logged, err := strconv.ParseUint(m[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	passing := &recorder{TB: t}
	if run(passing, logged, check(&again, false)); again != first || passing.logged != "" {
		t.Errorf("%v and then %v, logged %q", first, again, passing.logged)
	}
}

// Draws stay in their ranges, and reach both ends, the neighbours of the lower end and the middle.
func TestRanges(t *testing.T) {
	t.Parallel()
	ints, floats, picks := map[string]int{}, map[string]int{}, map[string]int{}
	Check(t, func(t *T) {
		for range 100 {
			switch n := t.Int("n", -10, 1000); {
			case n < -10 || n > 1000:
				t.Fatalf("%d", n)
			case n == -10 || n == -9 || n == 1000:
				ints[strconv.Itoa(n)]++
			case n > 300 && n < 700:
				ints["middle"]++
			}
			switch f := t.Float("f", 1e-3, 1e4); {
			case f < 1e-3 || f > 1e4:
				t.Fatalf("%v", f)
			case f < 1:
				floats["small"]++
			case f > 5000:
				floats["large"]++
			}
			picks[Pick(t, "p", "a", "b")]++
			_ = t.Uint64("u", 0, 1<<64-1) // the whole range has no successor
			if n := t.Int64("same", 7, 7); n != 7 {
				t.Fatalf("%d in a range of one", n)
			}
		}
	})
	if len(ints) != 4 || len(floats) != 2 || len(picks) != 2 {
		t.Errorf("drawn %v %v %v", ints, floats, picks)
	}
}
