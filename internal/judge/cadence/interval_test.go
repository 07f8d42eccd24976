package cadence

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

func TestNextTurnIsTheSameForTheSameEvidence(t *testing.T) {
	e := ready()
	e.Schedule.JitterSeconds = 600
	first := nextScheduled(e, noon)
	if again := nextScheduled(e, noon); !again.Equal(first) {
		t.Errorf("%v, then %v", first, again)
	}
	stored := ready()
	stored.Schedule.JitterSeconds = 600
	stored.LastRun.StartedAt = e.LastRun.StartedAt.Add(time.Microsecond / 2)
	if got := nextScheduled(stored, noon).Truncate(time.Microsecond); !got.Equal(first) {
		t.Errorf("%v from a time that the store would cut, %v from the stored one", got, first)
	}
}

// Connections that started together spread over the whole jitter, and never
// come early or later than it allows.
func TestJitterSpreads(t *testing.T) {
	const most, many = 600, 1000
	earliest, latest, fell := time.Duration(math.MaxInt64), time.Duration(0), map[time.Duration]int{}
	for i := range many {
		e := ready()
		e.Connection.ID, e.Schedule.JitterSeconds = fmt.Sprintf("cin_plum_%d", i), most
		j := nextScheduled(e, noon).Sub(e.LastRun.StartedAt) - time.Hour
		earliest, latest = min(earliest, j), max(latest, j)
		fell[j/time.Minute]++
	}
	if earliest < 0 || latest > most*time.Second || latest-earliest < 9*time.Minute {
		t.Errorf("between %v and %v", earliest, latest)
	}
	for minute, n := range fell {
		if n > 2*many/10 {
			t.Errorf("%d of %d fell into minute %d", n, many, minute)
		}
	}
}

func TestJitterOfAConnectionThatNeverRan(t *testing.T) {
	e := ready()
	e.LastRun, e.Schedule.UpdatedAt = nil, noon
	if got := nextScheduled(e, noon); !got.Equal(noon) {
		t.Errorf("without jitter: %v", got)
	}
	e.Schedule.JitterSeconds = 600
	if got := nextScheduled(e, noon); got.Before(noon) || got.After(noon.Add(10*time.Minute)) || got.Equal(noon) {
		t.Errorf("with jitter: %v", got)
	}
}

// No stored number is too large to reckon with.
func TestHugeNumbers(t *testing.T) {
	e := ready()
	e.Schedule.IntervalSeconds, e.Schedule.JitterSeconds = math.MaxInt64, math.MaxInt64
	if d := Decide(e, noon); d.Why != NotYet || d.At.Before(noon.Add(364*24*time.Hour)) ||
		RunInterval(e) != longestInterval {
		t.Errorf("huge: %+v, every %v", d, RunInterval(e))
	}
	e.Schedule.IntervalSeconds, e.Schedule.JitterSeconds = 1, math.MinInt64
	if d := Decide(e, noon); !d.Due {
		t.Errorf("negative jitter: %+v", d)
	}
	e.Schedule.IntervalSeconds = -1
	if d := Decide(e, noon); d.Why != NoSchedule || RunInterval(e) != 0 {
		t.Errorf("negative interval: %+v", d)
	}
}

// A run with a dead process is repeated at once, but not forever, because each such end counts as a failure.
func TestAbandonedRunKeepsItsTurn(t *testing.T) {
	e := ready()
	e.LastRun.Status, e.LastRun.StartedAt, e.LastRun.EndedAt = evidence.RunAbandoned, *at(-time.Minute), *at(-time.Second)
	if d := Decide(e, noon); !d.Due || !d.At.Equal(e.LastRun.EndedAt) {
		t.Errorf("once: %+v", d)
	}
	for n := 1; n < firstDelayedFailure; n++ {
		e.Backoff = AfterRun(e.Backoff, *e.LastRun, RunInterval(e), noon)
	}
	if d := Decide(e, noon); !d.Due {
		t.Errorf("before the wait: %+v", d)
	}
	e.Backoff = AfterRun(e.Backoff, *e.LastRun, RunInterval(e), noon)
	if d := Decide(e, noon); d.Why != InBackoff || !d.At.Equal(noon.Add(time.Hour)) {
		t.Errorf("again and again: %+v", d)
	}
}
