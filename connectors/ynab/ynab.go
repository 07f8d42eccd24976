// Package ynab collects a person's budgets from YNAB: accounts with their balances, categories, payees,
// transactions and months.
//
//	manifest.json   what it declares: streams, schemas, the form for the token
//	ynab.go         open: environment in, client and collectors out
//	api.go          one request, the budgets, the changes of one of their collections
//	walk.go         a walk from budget to budget
//	delta.go        collections that tell what changed
//	inventory.go    lists in which absence is deletion: budgets, payee locations, money movements
//	stats.go        balances, once a day
//	months.go       what each category had in each month
//	map.go          how one thing of YNAB's becomes one record
//	classify.go     what an answer means, and how much may still be asked
package ynab

import (
	"cmp"
	"context"
	_ "embed"
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the YNAB connector.
func Connector() connectorkit.Connector {
	return connectorkit.MustNew(manifestJSON, open)
}

const (
	publicAPI = "https://api.ynab.com/v1"
	// collection is what YNAB calls budgets in its paths; the older name is budgets.
	collection = "plans"
	// largest is more than the transactions of many years take: they come in one answer.
	largest = 256 << 20
	// patience is for that answer.
	patience = 2 * time.Minute
)

// open runs once per run. What is asked for in one request comes first, the months one by one come last.
func open(ctx context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
	if err := s.SharedQuota(ctx, connectorkit.SharedQuota{Account: s.Env("YNAB_PERSONAL_ACCESS_TOKEN")}); err != nil {
		return nil, err
	}
	client, err := s.HTTP(governhttp.Options{
		BaseURL: cmp.Or(s.Env("PDPP_YNAB_BASE_URL"), publicAPI), Classify: (&judge{now: time.Now}).classify,
		Header:  http.Header{"Authorization": {"Bearer " + s.Env("YNAB_PERSONAL_ACCESS_TOKEN")}},
		MaxBody: largest, Timeout: patience,
	})
	if err != nil {
		return nil, err
	}
	a := &api{client: client, root: cmp.Or(s.Env("PDPP_YNAB_COLLECTION"), collection), kept: map[string]changes{}}
	of := func(stream, path, member string, read rows) connectorkit.Collector {
		return connectorkit.PagedStream{Stream: stream, Page: (&delta{api: a, path: path, member: member, read: read}).page}
	}
	return []connectorkit.Collector{
		connectorkit.FullList{Stream: "budgets", Page: a.inventory},
		of("accounts", "accounts", "accounts", each[accountRecord]),
		of("transactions", "transactions", "transactions", each[transactionRecord]),
		connectorkit.PagedStream{Stream: "account_stats", Page: (&stats{api: a}).page},
		of("category_groups", "categories", "category_groups", each[groupRecord]),
		of("categories", "categories", "category_groups", categories),
		of("payees", "payees", "payees", each[payeeRecord]),
		a.perBudget("payee_locations", thing[locationRecord]),
		a.perBudget("money_movements", thing[movementRecord]),
		a.perBudget("money_movement_groups", thing[movementGroupRecord]),
		of("scheduled_transactions", "scheduled_transactions", "scheduled_transactions", each[scheduledRecord]),
		of("months", "months", "months", each[monthRecord]),
		connectorkit.PagedStream{Stream: "month_categories", Page: (&monthly{api: a}).page},
	}, nil
}
