package health

import "github.com/pdpp-go/pdpp/internal/judge/evidence"

// RollUpBacklog summarizes the gaps. Only gaps deferred under source pressure count as pending and set the next
// attempt and the number of attempts. PendingOther counts the other outstanding gaps. It returns nil if gaps could
// not be read, and zeros if there are none.
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

// measured returns nil for a negative count.
func measured(n *int64) *int64 {
	if n == nil || *n < 0 {
		return nil
	}
	return n
}
