package ynab

import (
	"context"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// inventory reads the list of budgets, which is one page.
func (a *api) inventory(ctx context.Context, _ connectorkit.PageRequest) (connectorkit.InventoryPage, error) {
	me, err := a.account(ctx)
	if err != nil {
		return connectorkit.InventoryPage{}, err
	}
	rows, err := a.list(ctx)
	if err != nil {
		return connectorkit.InventoryPage{}, err
	}
	out := connectorkit.InventoryPage{View: me}
	for _, raw := range rows {
		out.Things = append(out.Things, readBudget(raw))
	}
	return out, nil
}

// perBudget returns the reader of a collection without changes: each page is the whole collection of one budget.
func (a *api) perBudget(collection string,
	read func(budget string, raw jsontext.Value) *connectorkit.ListItem) connectorkit.Collector {
	page := func(ctx context.Context, v connectorkit.PageRequest) (connectorkit.InventoryPage, error) {
		me, err := a.account(ctx)
		if err != nil {
			return connectorkit.InventoryPage{}, err
		}
		out := connectorkit.InventoryPage{View: me}
		ids, err := a.budgets(ctx)
		if err != nil || len(ids) == 0 {
			return out, err
		}
		at := max(slices.Index(ids, v.Token), 0) // the first has no token
		var wire map[string]jsontext.Value
		if err := a.get(ctx, a.below(ids[at], collection), nil, &wire); err != nil {
			return out, err
		}
		var rows []jsontext.Value
		if wire[collection].Kind() != '[' || json.Unmarshal(wire[collection], &rows) != nil {
			return out, connectorkit.Fail(connectorkit.Malformed, errFrame)
		}
		for _, raw := range rows {
			if thing := read(ids[at], raw); thing != nil {
				out.Things = append(out.Things, *thing)
			}
		}
		if at+1 < len(ids) {
			out.Next = ids[at+1]
		}
		return out, nil
	}
	return connectorkit.FullList{Stream: collection, Page: page}
}
