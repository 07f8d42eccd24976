package cadence

import (
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

// The cool-down after a source's own refusals.
const (
	// longestCooldown limits how long one refusal delays a connection, unless the source itself named a later time.
	longestCooldown = 6 * time.Hour
	// cooldownDoublings is the number of attempts after which the cool-down stops growing.
	cooldownDoublings = 6
)

// cooldownEnd returns when new data may be requested from the source again; nil when no cool-down is active. Only
// gaps from the source's own refusals count. Limits set by the owner carry no information about the source.
func cooldownEnd(e *evidence.Evidence, now time.Time) *time.Time {
	attempts, floor, pressed := pressureGaps(e.Gaps)
	if !pressed || e.LastRun == nil {
		return nil
	}
	from := pressureStart(e)
	end := from.Add(doubledUpTo(RunInterval(e), min(attempts, cooldownDoublings), longestCooldown))
	if floor != nil && floor.After(end) {
		end = *floor // the source's own word
	}
	if !end.After(now) {
		return nil
	}
	return &end
}

// pressureGaps summarizes the outstanding gaps caused by source pressure: most attempts, latest retry time, and
// whether there are any.
func pressureGaps(g *evidence.Gaps) (attempts int64, floor *time.Time, pressed bool) {
	if g == nil {
		return 0, nil, false
	}
	for i := range g.Groups {
		group := &g.Groups[i]
		if group.Count <= 0 || !group.Reason.SourcePressure() {
			continue
		}
		pressed = true
		attempts = max(attempts, group.MaxAttempts)
		if group.NotBefore != nil && (floor == nil || group.NotBefore.After(*floor)) {
			floor = group.NotBefore
		}
	}
	return attempts, floor, pressed
}

// pressureStart returns the end of the newest run that fetched new data. A run that only retries gaps measures no
// stream and does not extend the cool-down.
func pressureStart(e *evidence.Evidence) time.Time {
	at := e.LastRun.EndedAt
	if !e.LastRun.RecoveryOnly {
		return at
	}
	var newest time.Time
	for i := range e.Streams {
		if f := e.Streams[i].Fact; f != nil && f.At.After(newest) {
			newest = f.At
		}
	}
	if newest.IsZero() {
		return at
	}
	return newest
}

// recoverableFrom returns the first time, not before from, at which a gap without source pressure may be retried; nil
// when there is none.
func recoverableFrom(g *evidence.Gaps, from time.Time) *time.Time {
	if g == nil {
		return nil
	}
	var first *time.Time
	for i := range g.Groups {
		group := &g.Groups[i]
		if group.Count <= 0 || group.Reason.SourcePressure() {
			continue
		}
		if group.Earliest == nil || !group.Earliest.After(from) {
			return &from
		}
		if first == nil || group.Earliest.Before(*first) {
			first = group.Earliest
		}
	}
	return first
}

// doubledUpTo returns base doubled n times, at most the limit.
func doubledUpTo(base time.Duration, n int64, limit time.Duration) time.Duration {
	for ; n > 0 && base < limit; n-- {
		base *= 2
	}
	return min(base, limit)
}
