package repair

import (
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

// flapCooldown is how long after its end a recurring action is not sent again. If it is still open after that, it is
// sent.
const flapCooldown = 10 * time.Minute

// Reasons for suppression, besides the verdict's channel.
const (
	whyNotAsked   = "not_asked"
	whySettled    = "settled"
	whyConfirming = "confirming"
	whyNotPrimary = "not_primary"
	whyFlapping   = "flapping"
)

// notify sets the state of the record's notification. A sent or failed one is final: one notification per action, not
// one per judgement.
func (s *check) notify(r *attention.AttentionRecord, w *ownerAction) {
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

// flaps reports whether the same action ended shortly before the record opened, and the record is younger than
// flapCooldown.
func (s *check) flaps(r *attention.AttentionRecord) bool {
	if s.now.Sub(r.OpenedAt) >= flapCooldown {
		return false
	}
	return slices.ContainsFunc(s.closed, func(old attention.AttentionRecord) bool {
		return old.ClosedAt != nil && old.Key() == r.Key() && r.OpenedAt.Sub(*old.ClosedAt) < flapCooldown
	})
}
