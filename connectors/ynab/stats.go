package ynab

import (
	"context"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// stats samples the balances of all accounts, once a day by YNAB's clock. A balance in the account's own record
// would make every purchase a new account.
type stats struct {
	*api

	walk *walk // nil before the first page of a run
}

func (s *stats) page(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	if s.walk == nil {
		w, err := s.begin(ctx, at)
		if err != nil {
			return connectorkit.Page{}, err
		}
		s.walk = w
	}
	w := s.walk
	for len(w.left) > 0 && w.known[w.left[0]] == s.today {
		w.left = w.left[1:]
	}
	if len(w.left) == 0 {
		return w.answer(nil), nil
	}
	budget := w.left[0]
	got, err := s.ask(ctx, budget, "accounts", "accounts", 0)
	if err != nil && !vanished(err) {
		return connectorkit.Page{}, err
	}
	w.left = w.left[1:]
	if err != nil {
		return w.answer([]connectorkit.Record{connectorkit.Unreadable("budget "+budget, nil)}), nil
	}
	var records []connectorkit.Record
	for _, raw := range got.rows {
		records = append(records, readStat(budget, s.today, raw))
	}
	w.known[budget] = s.today
	return w.answer(records), nil
}
