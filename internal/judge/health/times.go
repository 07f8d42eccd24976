package health

import "time"

// later gives the later of two moments; nil is none.
func later(a, b *time.Time) *time.Time {
	if a == nil || b != nil && b.After(*a) {
		return b
	}
	return a
}

// earlier gives the earlier of two moments; nil is none.
func earlier(a, b *time.Time) *time.Time {
	if a == nil || b != nil && b.Before(*a) {
		return b
	}
	return a
}

// expired reports whether evidence that is good until then is no longer so.
func expired(until *time.Time, now time.Time) bool { return until != nil && !until.After(now) }
