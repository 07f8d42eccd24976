package notify

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/keep/store"
)

const (
	// claimTime is well above passLimit, the longest time that a sender works on a claim.
	claimTime = 5 * time.Minute
	// maxLost is how many claims may be lost with their process, each perhaps
	// after the sending, before a notice is given up.
	maxLost = 2
)

// waits follow the attempts at which every target failed. One more attempt
// follows the last of them.
var waits = []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 8 * time.Hour}

// progress is how far a pending notice has come. It is kept as the notice's
// reason, a word like sending.2.1: what it waits for, the attempts begun, and
// those that were lost.
type progress struct {
	phase          string
	attempts, lost int
}

const (
	phaseSending  = "sending"
	phaseRetrying = "retrying"
)

func (p progress) String() string { return fmt.Sprintf("%s.%d.%d", p.phase, p.attempts, p.lost) }

// progressOf reads the word; any other word is a notice that nobody has begun.
func progressOf(r *attention.Record) progress {
	phase, counts, _ := strings.Cut(r.NoticeWhy, ".")
	p := progress{phase: phase}
	_, err := fmt.Sscanf(counts, "%d.%d", &p.attempts, &p.lost)
	if err != nil || p.attempts < 1 || p.lost < 0 || r.NoticeAt == nil || phase != phaseSending && phase != phaseRetrying {
		return progress{}
	}
	return p
}

// due reports whether the notice can be claimed now.
func due(r *attention.Record, now time.Time) bool {
	p := progressOf(r)
	switch p.phase {
	case phaseSending:
		return elapsed(*r.NoticeAt, now, claimTime)
	case phaseRetrying:
		return elapsed(*r.NoticeAt, now, waits[min(p.attempts, len(waits))-1])
	default:
		return true
	}
}

// elapsed reports whether the two moments are so far apart. A moment that far
// ahead was written by a clock that has been put right since; it holds nobody up.
func elapsed(since, now time.Time, wait time.Duration) bool { return now.Sub(since).Abs() >= wait }

// claim takes the records that nobody else takes at the same moment. Those that
// were lost too often are given up.
func (s *Sender) claim(ctx context.Context, pending []attention.Record, now time.Time) ([]delivery, error) {
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
		err := s.Store.SaveAttention(ctx, []attention.Record{r}, nil)
		switch {
		case errors.Is(err, store.ErrStale): // somebody else has it, or it has changed: the next pass reads it anew
		case err != nil:
			errs = append(errs, fmt.Errorf("claim notice %s: %w", r.ID, err))
		case r.Notice == attention.NoticePending:
			claimed = append(claimed, delivery{record: r, state: p, message: s.message(ctx, &r)})
		}
	}
	return claimed, errors.Join(errs...)
}

// settle records what became of a delivery. When the process was told to stop
// before any target took it, the claim is left to run out: the push may have
// gone out all the same.
func (s *Sender) settle(ctx context.Context, stopping bool, d delivery, results []result, now time.Time) error {
	told, word := false, ""
	for _, r := range results {
		told = told || r.ok
		if !r.ok {
			word = r.word
		}
	}
	if stopping && !told {
		return nil
	}
	for range settleTries {
		r, err := s.current(ctx, d.record, now)
		if err != nil {
			return err
		}
		if r == nil || r.Notice != attention.NoticePending {
			return nil // it is no longer asked to be told
		}
		r.NoticeAt = &now
		switch {
		case told:
			r.Notice, r.NoticeWhy = attention.NoticeSent, ""
		case d.state.attempts > len(waits):
			r.Notice, r.NoticeWhy = attention.NoticeFailed, word
		default:
			d.state.phase = phaseRetrying
			r.NoticeWhy = d.state.String()
		}
		if err := s.Store.SaveAttention(ctx, []attention.Record{*r}, nil); err == nil || !errors.Is(err, store.ErrStale) {
			return wrap("record what became of notice "+d.record.ID, err)
		}
	}
	return nil // it changes without end; the claim runs out
}

// settleTries is how often a record may change under the sender's hands.
const settleTries = 5

// current reads the record again, closed meanwhile or not; nil when it is gone.
func (s *Sender) current(ctx context.Context, r attention.Record, now time.Time) (*attention.Record, error) {
	since := now.Add(-time.Hour) // the clocks of other processes differ by less
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

func wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}
