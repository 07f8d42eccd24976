package ynab

import (
	"context"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"pdpp/connectorkit"
)

// inventory reads the list of budgets, which is one page.
func (a *api) inventory(ctx context.Context, _ connectorkit.Visit) (connectorkit.InventoryPage, error) {
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

// locations reads the places of the payees, a budget a page: YNAB tells no changes of them.
func (a *api) locations(ctx context.Context, v connectorkit.Visit) (connectorkit.InventoryPage, error) {
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
	var wire struct {
		Locations *[]jsontext.Value `json:"payee_locations"`
	}
	if err := a.get(ctx, a.below(ids[at], "payee_locations"), nil, &wire); err != nil {
		return out, err
	}
	if wire.Locations == nil {
		return out, connectorkit.Fail(connectorkit.Malformed, errFrame)
	}
	for _, raw := range *wire.Locations {
		if thing := readLocation(ids[at], raw); thing != nil {
			out.Things = append(out.Things, *thing)
		}
	}
	if at+1 < len(ids) {
		out.Next = ids[at+1]
	}
	return out, nil
}
