package cli

import (
	"context"
	"errors"
	"slices"
	"time"

	"pdpp/internal/evidence"
	"pdpp/internal/store"
)

// factsPage is how many connections are read at once.
const factsPage = 500

// scheduleFacts gives what decides when connections are due: of all that are not
// revoked, in the order of their ids.
func scheduleFacts(ctx context.Context, st store.Store, now time.Time) ([]evidence.Evidence, error) {
	var all []evidence.Evidence
	for after := ""; ; {
		page, err := st.Evidence(ctx, evidence.Query{After: after, Limit: factsPage})
		if err != nil {
			return nil, err
		}
		for i := range page {
			if err := endDeadRun(ctx, st, &page[i], now); err != nil {
				return nil, err
			}
		}
		all = append(all, page...)
		if len(page) < factsPage {
			return all, nil
		}
		after = page[len(page)-1].Connection.ID
	}
}

// scheduleFactsOf is scheduleFacts for one connection.
func scheduleFactsOf(ctx context.Context, st store.Store, id string, now time.Time) (evidence.Evidence, error) {
	found, err := st.Evidence(ctx, evidence.Query{ConnectionIDs: []string{id}})
	if err != nil {
		return evidence.Evidence{}, err
	}
	if len(found) == 0 {
		return evidence.Evidence{}, store.ErrNotFound
	}
	return found[0], endDeadRun(ctx, st, &found[0], now)
}

// endDeadRun takes a run whose process died for what it is: over. The next run
// will record it so; until then its lease stands, and would keep that run from
// ever being due. Its questions have nobody left to be answered to.
func endDeadRun(ctx context.Context, st store.Store, e *evidence.Evidence, now time.Time) error {
	if e.Active == nil {
		return nil
	}
	lease, err := st.ActiveLease(ctx, e.Connection.ID)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil // it ended just now, and what it left is not in these facts
	case err != nil:
		return err
	case lease.RunID != e.Active.ID || lease.ExpiresAt.After(now):
		return nil
	}
	dead := e.Active
	e.Active = nil
	e.LastRun = &evidence.Run{ID: dead.ID, Status: evidence.RunAbandoned, StartedAt: dead.StartedAt, EndedAt: lease.ExpiresAt}
	e.Attention = slices.DeleteFunc(e.Attention, func(q evidence.Attention) bool { return q.RunID == dead.ID })
	return nil
}
