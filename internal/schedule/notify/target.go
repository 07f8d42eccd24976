package notify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// retireAfter is the number of days with failures and without a success after which a target is disabled. Failures of
// one day count once.
const retireAfter = 5

// recordTarget saves how a target did in this pass. It reads the target again, because the owner may have changed or
// removed it.
func (s *Sender) recordTarget(ctx context.Context, id string, results []result, now time.Time) error {
	if !slices.ContainsFunc(results, func(r result) bool { return !r.stopped }) {
		return nil
	}
	all, err := s.Store.Targets(ctx)
	if err != nil {
		return fmt.Errorf("read push target %s again: %w", id, err)
	}
	i := slices.IndexFunc(all, func(t store.PushTarget) bool { return t.ID == id })
	if i < 0 {
		return nil
	}
	t := all[i]
	applyResults(&t, results, now)
	if err := s.Store.PutTarget(ctx, t); err != nil && !errors.Is(err, store.ErrExists) {
		return fmt.Errorf("record how push target %s did: %w", id, err)
	}
	if t.RetiredAt != nil && all[i].RetiredAt == nil && s.Log != nil {
		s.Log.Info("push target retired", "target", t.ID, "kind", string(t.Kind), "reason", t.LastFailure)
	}
	return nil
}

// applyResults applies the results of a pass. One success means that the target works.
func applyResults(t *store.PushTarget, results []result, now time.Time) {
	if slices.ContainsFunc(results, func(r result) bool { return r.ok }) {
		t.Failures, t.LastSuccessAt, t.LastFailure = 0, &now, ""
		return
	}
	for _, r := range results {
		if r.stopped {
			continue
		}
		if !r.ours && (t.LastFailureAt == nil || t.Failures == 0 || utcDate(*t.LastFailureAt) != utcDate(now)) {
			t.Failures++
		}
		t.LastFailureAt, t.LastFailure = &now, r.word
		if r.gone || t.Failures >= retireAfter {
			t.RetiredAt = &now
		}
	}
}

func utcDate(t time.Time) string { return t.UTC().Format(time.DateOnly) }
