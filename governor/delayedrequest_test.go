package governor

import (
	"slices"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/governor/internal/quickcheck"
)

// Marks count the requests answered by their moment, in whatever order the reports arrive.
func TestMarksCountWhatIsHeardOfLate(t *testing.T) {
	t.Parallel()
	quickcheck.Check(t, func(t *quickcheck.T) {
		sent := quickcheck.Slice(t, "sent", 1, 400, func() int { return t.Int("ms", 1, 4000) })
		p := newPacer(Config{Discovery: time.Second})
		for _, at := range sent {
			p.countDelayed(time.Duration(at) * time.Millisecond)
		}
		if p.epoch.n != float64(len(sent)) {
			t.Fatalf("counted %v of %d", p.epoch.n, len(sent))
		}
		for _, m := range p.epoch.marks[:p.epoch.used] {
			by := 0
			for _, at := range sent {
				if float32(at)/1000 <= m.passed {
					by++
				}
			}
			if m.n > float64(by) || m.n < float64(by-countsAt(sent, m.passed)) {
				t.Fatalf("a mark says %v by %v s, of %d", m.n, m.passed, by)
			}
		}
		if !slices.IsSortedFunc(p.epoch.marks[:p.epoch.used], func(a, b epochMark) int { return int(a.n - b.n) }) {
			t.Fatalf("marks go back: %v", p.epoch.marks[:p.epoch.used])
		}
	})
}

// countsAt returns how many requests were sent by the moment of a mark.
func countsAt(sent []int, passed float32) (n int) {
	for _, at := range sent {
		if float32(at)/1000 == passed {
			n++
		}
	}
	return n
}

// Earlier idle time does not make the deliveries since then look faster.
func TestIdleHeardOfLate(t *testing.T) {
	t.Parallel()
	p := newPacer(Config{Discovery: time.Second})
	for i := range 200 {
		p.countAnswer(time.Duration(i) * 100 * time.Millisecond)
	}
	at := 20 * time.Second
	before := p.epoch.sustained(5, p.epoch.active(at))
	p.epoch.setIdle(4)
	p.epoch.setIdle(3)
	if after := p.epoch.sustained(5, p.epoch.active(at)); after > before*1.0001 || p.epoch.idle != 4 {
		t.Errorf("%v in a second, and %v before it was told of %v idle seconds", after, before, p.epoch.idle)
	}
}
