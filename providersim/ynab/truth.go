package ynab

import (
	"encoding/json"

	"github.com/pdpp-go/pdpp/providersim"
)

// Streams of [YNAB.Truth].
const (
	StreamBudgets      = "budgets"
	StreamAccounts     = "accounts"
	StreamStats        = "account_stats"
	StreamGroups       = "category_groups"
	StreamCategories   = "categories"
	StreamPayees       = "payees"
	StreamLocations    = "payee_locations"
	StreamTransactions = "transactions"
	StreamScheduled    = "scheduled_transactions"
	StreamMonths       = "months"
	StreamMonthly      = "month_categories"
	StreamMovements    = "money_movements"
	StreamMoveGroups   = "money_movement_groups"
)

// Truth returns everything that exists now, as the API serves it, with the budget it belongs to. Balances are those
// that the first whole answer of a day had. What is in a budget that is gone counts as it last was, except in the
// collections that are listed whole in every run.
func (y *YNAB) Truth() providersim.Truth {
	y.mu.Lock()
	defer y.mu.Unlock()
	t := providersim.Truth{}
	add := func(stream, key string, data object, deleted bool) {
		if t[stream] == nil {
			t[stream] = map[string]providersim.Item{}
		}
		t[stream][key] = providersim.Item{Data: json.RawMessage(providersim.EncodeJSON(data)), Deleted: deleted}
	}
	for _, b := range y.budgets {
		add(StreamBudgets, b.id, b.object(y), b.gone)
		for collection, all := range b.all {
			for _, x := range all {
				o, key := x.object(), x.id
				o["budget_id"] = b.id
				if collection == months {
					key = b.id + "|" + o["month"].(string)
					o["id"] = key
				}
				add(collection, key, o, x.gone || b.gone &&
					(collection == places || collection == movements || collection == movementGroups))
			}
		}
		for _, m := range b.all[months] {
			for _, c := range b.all[cats] {
				o, month := b.inMonth(m, c), m.data["month"].(string)
				key := b.id + ":" + month + ":" + c.id
				o["budget_id"], o["category_id"], o["category_name"], o["month"], o["id"] = b.id, c.id, o["name"], month, key
				add(StreamMonthly, key, o, m.gone || c.gone)
			}
		}
	}
	for _, day := range y.samples {
		for key, o := range day {
			add(StreamStats, key, o, false)
		}
	}
	return t
}
