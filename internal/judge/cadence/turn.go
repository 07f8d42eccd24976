package cadence

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

// longestInterval bounds what a stored number may mean, so that no sum of times
// can overflow. A schedule that is slower than a year is none.
const longestInterval = 366 * 24 * time.Hour

func scheduled(e *evidence.Evidence) bool { return e.Schedule != nil && e.Schedule.IntervalSeconds > 0 }

// Every is the time between the starts of two scheduled runs: what the owner set,
// and never less than the manifest calls safe. It is zero without a schedule.
func Every(e *evidence.Evidence) time.Duration {
	if !scheduled(e) {
		return 0
	}
	every := seconds(e.Schedule.IntervalSeconds)
	if e.Refresh != nil {
		every = max(every, seconds(int64(e.Refresh.MinimumIntervalSeconds)))
	}
	return every
}

// nextTurn is when the schedule asks for the next run. A turn that is further ahead than any can be
// follows from a run or a schedule that a wrong clock dated: then it is now.
func nextTurn(e *evidence.Evidence, now time.Time) time.Time {
	turn := turnAfter(e)
	if turn.Sub(now) > max(clockTolerance, 2*(Every(e)+seconds(e.Schedule.JitterSeconds))) {
		return now
	}
	return turn
}

// clockTolerance is more than the clocks of two machines that work together differ by.
const clockTolerance = 24 * time.Hour

// turnAfter is the turn that follows the last run. A connection that never
// ran is due as soon as its schedule is there.
func turnAfter(e *evidence.Evidence) time.Time {
	if e.LastRun == nil {
		return e.Schedule.UpdatedAt.Add(jitter(e, e.Schedule.UpdatedAt))
	}
	if e.LastRun.Status == evidence.RunAbandoned {
		// Its process died, and its turn is still to be had. A run that kills its
		// process again and again meets the wait after failures.
		return e.LastRun.EndedAt
	}
	start := e.LastRun.StartedAt
	return start.Add(Every(e) + jitter(e, start))
}

// jitter spreads connections that were started together. It follows from the
// connection and the turn before alone, so that the same evidence always gives
// the same moment.
func jitter(e *evidence.Evidence, from time.Time) time.Duration {
	most := seconds(e.Schedule.JitterSeconds) / time.Second
	if most <= 0 {
		return 0
	}
	// A store keeps microseconds: the moment is the same before and after.
	sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte(e.Connection.ID), uint64(from.UnixMicro())))
	return time.Duration(binary.BigEndian.Uint64(sum[:8])%uint64(most+1)) * time.Second
}

func seconds(n int64) time.Duration {
	return time.Duration(min(max(n, 0), int64(longestInterval/time.Second))) * time.Second
}
