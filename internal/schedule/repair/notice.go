package repair

import (
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

// flapCooldown is how long after its end an action that comes back is not pushed
// again. Somebody who has just been called needs no second call within minutes,
// and what still stands by then is pushed after all.
const flapCooldown = 10 * time.Minute

// Why a push is suppressed, beside the verdict's channel.
const (
	whyNotAsked   = "not_asked"
	whySettled    = "settled"
	whyConfirming = "confirming"
	whyNotPrimary = "not_primary"
	whyFlapping   = "flapping"
)

// notify settles what becomes of the record's push. One that was sent, or failed,
// stays so for the life of the record: once per action, not once per judgement.
func (s *scene) notify(r *attention.Record, w *want) {
	if r.Notice == attention.NoticeSent || r.Notice == attention.NoticeFailed {
		return
	}
	to, why := attention.NoticeSuppressed, ""
	switch {
	case !r.Open():
		if r.Notice == attention.NoticeSuppressed {
			return
		}
		why = whySettled
	case w == nil:
		why = whyNotAsked
	case r.Lifecycle == evidence.AttentionInProgress:
		why = whyConfirming
	case !s.c.Verdict.Push():
		why = string(s.c.Verdict.Channel)
	case !w.primary:
		why = whyNotPrimary
	case s.flaps(r):
		why = whyFlapping
	default:
		to = attention.NoticePending
	}
	if r.Notice != to || r.NoticeWhy != why {
		at := s.now
		r.Notice, r.NoticeWhy, r.NoticeAt = to, why, &at
	}
}

// flaps reports whether the same action ended shortly before the record opened,
// and the record has not been open for as long since.
func (s *scene) flaps(r *attention.Record) bool {
	if s.now.Sub(r.OpenedAt) >= flapCooldown {
		return false
	}
	return slices.ContainsFunc(s.closed, func(old attention.Record) bool {
		return old.ClosedAt != nil && old.Key() == r.Key() && r.OpenedAt.Sub(*old.ClosedAt) < flapCooldown
	})
}
