package cli

import (
	"context"

	"pdpp/internal/judge/evidence"
	"pdpp/internal/keep/store"
)

// factsPage is how many connections are read at once.
const factsPage = 500

// scheduleFacts gives what decides when connections are due: of all that are not
// revoked, in the order of their ids.
func scheduleFacts(ctx context.Context, st store.Store) ([]evidence.Evidence, error) {
	var all []evidence.Evidence
	for after := ""; ; {
		page, err := st.Evidence(ctx, evidence.Query{After: after, Limit: factsPage})
		if err != nil {
			return nil, err
		}
		all = append(all, page...)
		if len(page) < factsPage {
			return all, nil
		}
		after = page[len(page)-1].Connection.ID
	}
}

// scheduleFactsOf is scheduleFacts for one connection.
func scheduleFactsOf(ctx context.Context, st store.Store, id string) (evidence.Evidence, error) {
	found, err := st.Evidence(ctx, evidence.Query{ConnectionIDs: []string{id}})
	if err != nil {
		return evidence.Evidence{}, err
	}
	if len(found) == 0 {
		return evidence.Evidence{}, store.ErrNotFound
	}
	return found[0], nil
}
