package cadence

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

// longestInterval limits stored numbers so that sums of times cannot overflow. A schedule slower than a year is
// treated as none.
const longestInterval = 366 * 24 * time.Hour

func hasSchedule(e *evidence.Evidence) bool {
	return e.Schedule != nil && e.Schedule.IntervalSeconds > 0
}

// RunInterval returns the time between the starts of two scheduled runs: the owner's setting, but at least the
// manifest's minimum. It returns zero without a schedule.
func RunInterval(e *evidence.Evidence) time.Duration {
	if !hasSchedule(e) {
		return 0
	}
	every := boundedSeconds(e.Schedule.IntervalSeconds)
	if e.Refresh != nil {
		every = max(every, boundedSeconds(int64(e.Refresh.MinimumIntervalSeconds)))
	}
	return every
}

// nextScheduled returns when the next scheduled run is due. A time further ahead than the schedule allows comes from
// a wrong clock and is replaced by now.
func nextScheduled(e *evidence.Evidence, now time.Time) time.Time {
	turn := scheduledAfterLast(e)
	if turn.Sub(now) > max(clockTolerance, 2*(RunInterval(e)+boundedSeconds(e.Schedule.JitterSeconds))) {
		return now
	}
	return turn
}

// clockTolerance exceeds the difference between the clocks of two cooperating machines.
const clockTolerance = 24 * time.Hour

// scheduledAfterLast returns the scheduled time after the last run. A connection that never ran is due when its
// schedule was set.
func scheduledAfterLast(e *evidence.Evidence) time.Time {
	if e.LastRun == nil {
		return e.Schedule.UpdatedAt.Add(scheduleJitter(e, e.Schedule.UpdatedAt))
	}
	if e.LastRun.Status == evidence.RunAbandoned {
		// The process of the run died, so its scheduled time is not used up. Repeated crashes meet the delay after
		// failures.
		return e.LastRun.EndedAt
	}
	start := e.LastRun.StartedAt
	return start.Add(RunInterval(e) + scheduleJitter(e, start))
}

// scheduleJitter spreads connections that started together. It depends only on the connection and the previous
// scheduled time, so equal evidence always yields the same time.
func scheduleJitter(e *evidence.Evidence, from time.Time) time.Duration {
	most := boundedSeconds(e.Schedule.JitterSeconds) / time.Second
	if most <= 0 {
		return 0
	}
	// Stores keep microseconds, so the time is the same before and after storing it.
	sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte(e.Connection.ID), uint64(from.UnixMicro())))
	return time.Duration(binary.BigEndian.Uint64(sum[:8])%uint64(most+1)) * time.Second
}

func boundedSeconds(n int64) time.Duration {
	return time.Duration(min(max(n, 0), int64(longestInterval/time.Second))) * time.Second
}
