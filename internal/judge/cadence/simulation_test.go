package cadence

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/protocol"
)

// simulate asks every five minutes for thirty days whether a run is due. Each run takes some minutes and ends as end
// returns. If fix is set, the owner starts a run after the scheduler gave up. It returns the starts of the scheduled
// runs.
func simulate(e *evidence.Evidence, end func(run int) evidence.Run, fix bool) (starts []time.Time, gaveUp int) {
	const tick, days = 5 * time.Minute, 30
	for now := noon; now.Before(noon.Add(days * 24 * time.Hour)); now = now.Add(tick) {
		d := Decide(e, now)
		if d.Why == GaveUp && fix {
			gaveUp++
			e.Backoff, e.LastSuccessAt = nil, &now
			continue
		}
		if !d.Due {
			continue
		}
		run := end(len(starts))
		run.RecoveryOnly, run.StartedAt, run.EndedAt = d.RecoveryOnly, now, now.Add(3*time.Minute)
		starts = append(starts, now)
		e.Backoff = AfterRun(CurrentBackoff(e), run, RunInterval(e), run.EndedAt)
		e.LastRun = &run
		if run.Status == evidence.RunSucceeded {
			e.LastSuccessAt = &run.EndedAt
		}
	}
	return starts, gaveUp
}

// A source that comes and goes is asked at most once in each interval, and a
// failing one far less.
func TestFlappingSource(t *testing.T) {
	const most = 30 * 24 // one in each hour
	rapid.Check(t, func(t *rapid.T) {
		e := ready()
		e.LastRun, e.LastSuccessAt, e.Schedule.UpdatedAt = nil, nil, noon
		e.Schedule.JitterSeconds = rapid.Int64Range(0, 1200).Draw(t, "jitter")
		good := rapid.IntRange(0, 100).Draw(t, "good in a hundred")
		luck := rapid.SliceOfN(rapid.IntRange(0, 99), 50, 50).Draw(t, "luck")
		end := func(run int) evidence.Run {
			if luck[run%len(luck)] < good {
				gaps()(e)
				return evidence.Run{Status: evidence.RunSucceeded}
			}
			if luck[run%len(luck)]%2 == 0 {
				gaps(evidence.GapGroup{Reason: protocol.ReasonRateLimited, Count: 1, MaxAttempts: int64(run % 4)},
					evidence.GapGroup{Reason: protocol.ReasonRetryExhausted, Count: 1})(e)
			}
			return failedRun(evidence.Failure{Reason: "network"})
		}
		starts, _ := simulate(e, end, rapid.Bool().Draw(t, "fixed"))
		if len(starts) == 0 || len(starts) > most {
			t.Fatalf("%d runs", len(starts))
		}
		for i := 1; i < len(starts); i++ {
			if gap := starts[i].Sub(starts[i-1]); gap < time.Hour {
				t.Fatalf("run %d started %v after the one before", i, gap)
			}
		}
	})
}

// A source that is down for good gets seven runs, and another seven each time
// that the owner confirms the fix.
func TestDeadSource(t *testing.T) {
	dead := func(int) evidence.Run { return failedRun(evidence.Failure{Reason: "network"}) }
	starts, _ := simulate(ready(), dead, false)
	if len(starts) != GiveUpFailures || starts[6].Sub(starts[0]) > 24*time.Hour {
		t.Errorf("%d runs: %v", len(starts), starts)
	}
	starts, gaveUp := simulate(ready(), dead, true)
	if gaveUp == 0 || len(starts) < GiveUpFailures*gaveUp || len(starts) > GiveUpFailures*(gaveUp+1) {
		t.Errorf("%d runs, given up %d times", len(starts), gaveUp)
	}
}

// A steady source is asked in every interval.
func TestSteadySource(t *testing.T) {
	starts, _ := simulate(ready(), func(int) evidence.Run { return evidence.Run{Status: evidence.RunSucceeded} }, false)
	if len(starts) != 30*24 {
		t.Errorf("%d runs in 30 days of 24", len(starts))
	}
}
