package health

import "github.com/pdpp-go/pdpp/internal/judge/evidence"

// RollUpBacklog sums the gaps up. Only what the source's pressure deferred
// counts as pending, sets the next attempt and the number of attempts; every
// other outstanding gap is in PendingOther. Gaps that could not be read give
// nil, and none at all gives zeros.
func RollUpBacklog(g *evidence.Gaps) *Backlog {
	if g == nil {
		return nil
	}
	b := &Backlog{Recovered: measured(g.Recovered), Terminal: measured(g.Terminal)}
	for i := range g.Groups {
		group := &g.Groups[i]
		if group.Count <= 0 {
			continue
		}
		if !group.Reason.SourcePressure() {
			b.PendingOther += group.Count
			continue
		}
		b.Pending += group.Count
		b.MaxAttemptCount = max(b.MaxAttemptCount, group.MaxAttempts)
		b.NextAttemptAt = later(b.NextAttemptAt, group.NotBefore)
	}
	b.PendingIsFloor, b.PendingOtherIsFloor = g.Floor, g.Floor
	return b
}

// measured drops a count that cannot be one.
func measured(n *int64) *int64 {
	if n == nil || *n < 0 {
		return nil
	}
	return n
}
