package health

import "time"

// later returns the later time; nil counts as absent.
func later(a, b *time.Time) *time.Time {
	if a == nil || b != nil && b.After(*a) {
		return b
	}
	return a
}

// earlier returns the earlier time; nil counts as absent.
func earlier(a, b *time.Time) *time.Time {
	if a == nil || b != nil && b.Before(*a) {
		return b
	}
	return a
}

// expired reports whether evidence that is valid until then has expired.
func expired(until *time.Time, now time.Time) bool { return until != nil && !until.After(now) }
