package cadence

import (
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

// The cool-down after a source's own refusals.
const (
	// longestCooldown lets a source rest for part of a day, and no refusal hold a
	// connection for good: after it one says nothing about the source any more,
	// unless the source itself named a later time.
	longestCooldown = 6 * time.Hour
	// cooldownDoublings is after how many attempts the wait stops growing. Even a
	// schedule of a few minutes rests for hours by then.
	cooldownDoublings = 6
)

// cooldownEnd is when the source may be asked for new data again; nil when no
// pressure holds now. Only gaps that the source's own refusals left count: a cap
// that the owner set says nothing about the source.
func cooldownEnd(e *evidence.Evidence, now time.Time) *time.Time {
	attempts, floor, pressed := pressure(e.Gaps)
	if !pressed || e.LastRun == nil {
		return nil
	}
	from := pressedAt(e)
	end := from.Add(doubled(Every(e), min(attempts, cooldownDoublings), longestCooldown))
	if floor != nil && floor.After(end) {
		end = *floor // the source's own word
	}
	if !end.After(now) {
		return nil
	}
	return &end
}

// pressure sums up the outstanding gaps of source pressure.
func pressure(g *evidence.Gaps) (attempts int64, floor *time.Time, pressed bool) {
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

// pressedAt is the end of the newest run that asked for new data. A run that
// only recovers measures no stream, and does not prolong the wait of the others.
func pressedAt(e *evidence.Evidence) time.Time {
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

// recoverableFrom is the first moment, from the given one on, at which a gap may be
// retried that is not of the source's pressure; nil when none waits.
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

// doubled is base times two to the n, at most the limit.
func doubled(base time.Duration, n int64, limit time.Duration) time.Duration {
	for ; n > 0 && base < limit; n-- {
		base *= 2
	}
	return min(base, limit)
}
