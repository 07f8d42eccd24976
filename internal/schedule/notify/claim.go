package notify

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

const (
	// claimTime is well above passLimit, the longest time that a sender works on a claim.
	claimTime = 5 * time.Minute
	// maxLost is how many claims may be lost with their process, perhaps after sending, before a notice is given up.
	maxLost = 2
)

// retryWaits follow the attempts at which every target failed. One more attempt follows the last wait.
var retryWaits = []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 8 * time.Hour}

// progress is the state of a pending notice. It is stored in the notice's reason, as in sending.2.1: the phase, the
// attempts started and the attempts lost.
type progress struct {
	phase          string
	attempts, lost int
}

const (
	phaseSending  = "sending"
	phaseRetrying = "retrying"
)

func (p progress) String() string { return fmt.Sprintf("%s.%d.%d", p.phase, p.attempts, p.lost) }

// progressOf parses the stored progress; other text is a notice that was never started.
func progressOf(r *attention.AttentionRecord) progress {
	phase, counts, _ := strings.Cut(r.NoticeWhy, ".")
	p := progress{phase: phase}
	_, err := fmt.Sscanf(counts, "%d.%d", &p.attempts, &p.lost)
	if err != nil || p.attempts < 1 || p.lost < 0 || r.NoticeAt == nil || phase != phaseSending && phase != phaseRetrying {
		return progress{}
	}
	return p
}

// claimable reports whether the notice can be claimed now.
func claimable(r *attention.AttentionRecord, now time.Time) bool {
	p := progressOf(r)
	switch p.phase {
	case phaseSending:
		return elapsed(*r.NoticeAt, now, claimTime)
	case phaseRetrying:
		return elapsed(*r.NoticeAt, now, retryWaits[min(p.attempts, len(retryWaits))-1])
	default:
		return true
	}
}

// elapsed reports whether the times are at least that far apart. A time that far in the future came from a wrong
// clock and does not block.
func elapsed(since, now time.Time, wait time.Duration) bool { return now.Sub(since).Abs() >= wait }

// claim claims the records that no other sender claims at the same time. Records that were lost too often are given
// up.
func (s *Sender) claim(ctx context.Context, pending []attention.AttentionRecord, now time.Time) ([]delivery, error) {
	var claimed []delivery
	var errs []error
	for _, r := range pending {
		p := progressOf(&r)
		if p.phase == phaseSending {
			p.lost++
		}
		p.phase, p.attempts = phaseSending, p.attempts+1
		r.NoticeAt, r.NoticeWhy = &now, p.String()
		if p.lost >= maxLost {
			r.Notice, r.NoticeWhy = attention.NoticeFailed, "unconfirmed"
		}
		err := s.Store.SaveAttention(ctx, []attention.AttentionRecord{r}, nil)
		switch {
		case errors.Is(err, store.ErrStale): // another sender has it, or it changed: the next pass reads it again
		case err != nil:
			errs = append(errs, fmt.Errorf("claim notice %s: %w", r.ID, err))
		case r.Notice == attention.NoticePending:
			claimed = append(claimed, delivery{record: r, state: p, message: s.message(ctx, &r)})
		}
	}
	return claimed, errors.Join(errs...)
}

// saveOutcome records the result of a delivery. If the process must stop before any target succeeded, the claim
// expires instead: the notification may have been sent.
func (s *Sender) saveOutcome(ctx context.Context, stopping bool, d delivery, results []result, now time.Time) error {
	reported, word := false, ""
	for _, r := range results {
		reported = reported || r.ok
		if !r.ok {
			word = r.word
		}
	}
	if stopping && !reported {
		return nil
	}
	for range saveTries {
		r, err := s.current(ctx, d.record, now)
		if err != nil {
			return err
		}
		if r == nil || r.Notice != attention.NoticePending {
			return nil // the record no longer asks for a notification
		}
		r.NoticeAt = &now
		switch {
		case reported:
			r.Notice, r.NoticeWhy = attention.NoticeSent, ""
		case d.state.attempts > len(retryWaits):
			r.Notice, r.NoticeWhy = attention.NoticeFailed, word
		default:
			d.state.phase = phaseRetrying
			r.NoticeWhy = d.state.String()
		}
		if err := s.Store.SaveAttention(
			ctx,
			[]attention.AttentionRecord{*r},
			nil,
		); err == nil ||
			!errors.Is(err, store.ErrStale) {
			return wrapError("record what became of notice "+d.record.ID, err)
		}
	}
	return nil // it keeps changing; the claim expires
}

// saveTries is how often a record may change while its outcome is saved.
const saveTries = 5

// current reads the record again, closed or not; nil if it no longer exists.
func (s *Sender) current(
	ctx context.Context,
	r attention.AttentionRecord,
	now time.Time,
) (*attention.AttentionRecord, error) {
	since := now.Add(-time.Hour) // more than clocks of other processes differ
	all, err := s.Store.Attention(ctx, store.AttentionQuery{ConnectionIDs: []string{r.ConnectionID}, ClosedSince: &since})
	if err != nil {
		return nil, fmt.Errorf("read notice %s again: %w", r.ID, err)
	}
	for i := range all {
		if all[i].ID == r.ID {
			return &all[i], nil
		}
	}
	return nil, nil
}

func wrapError(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}
