package ynab

import (
	"fmt"
	"maps"
	"time"
)

type object map[string]any

// thing is a row of a budget.
type thing struct {
	id   string
	at   int // the budget's knowledge when it last changed
	gone bool
	data object
}

// budget is one with everything in it, by collection.
type budget struct {
	id        string
	name      string
	gone      bool
	knowledge int
	modified  time.Time
	all       map[string][]*thing
	moved     map[string]int // of a month and a category: what was assigned besides
}

const (
	accounts  = "accounts"
	groups    = "category_groups"
	cats      = "categories"
	payees    = "payees"
	places    = "payee_locations"
	trans     = "transactions"
	scheduled = "scheduled_transactions"
	months    = "months"

	movements      = "money_movements"
	movementGroups = "money_movement_groups"
)

func (y *YNAB) id() string {
	y.lastID++
	return fmt.Sprintf("%08x-0000-4000-8000-%012x", uint32(y.lastID*2654435761), y.lastID)
}

// put adds a row.
func (y *YNAB) put(b *budget, collection string, data object) *thing {
	t := &thing{id: y.id(), data: data}
	b.all[collection] = append(b.all[collection], t)
	b.touch(t)
	return t
}

// touch marks a row as changed.
func (b *budget) touch(t *thing) {
	b.knowledge++
	t.at = b.knowledge
}

// live are the rows of a collection that are not deleted.
func (b *budget) live(collection string) (out []*thing) {
	for _, t := range b.all[collection] {
		if !t.gone {
			out = append(out, t)
		}
	}
	return out
}

func (t *thing) object() object {
	o := maps.Clone(t.data)
	o["id"], o["deleted"] = t.id, t.gone
	return o
}

// firstOf is the first day of the month so many months from now.
func (y *YNAB) firstOf(n int) time.Time {
	now := y.cfg.Now().UTC()
	return time.Date(now.Year(), now.Month()+time.Month(n), 1, 0, 0, 0, 0, time.UTC)
}

var currencies = []object{
	{"iso_code": "EUR", "example_format": "123.456,78", "decimal_digits": 2, "decimal_separator": ",",
		"symbol_first": false, "group_separator": ".", "currency_symbol": "€", "display_symbol": true},
	{"iso_code": "JPY", "example_format": "123,456", "decimal_digits": 0, "decimal_separator": ".", "symbol_first": true,
		"group_separator": ",", "currency_symbol": "¥", "display_symbol": true},
}

func (y *YNAB) addBudget() *budget {
	n := len(y.budgets)
	b := &budget{id: y.id(), name: fmt.Sprintf("Household %d", n+1), all: map[string][]*thing{}, moved: map[string]int{}, modified: y.firstOf(0)}
	y.budgets = append(y.budgets, b)
	for i := range y.cfg.Accounts {
		y.put(b, accounts, object{"name": fmt.Sprintf("Account %d", i+1), "type": []string{"checking", "savings", "mortgage"}[i%3], "on_budget": i%3 != 2, "closed": false, "note": nil,
			"balance": 100_000 * (i + 1), "cleared_balance": 90_000 * (i + 1), "uncleared_balance": 10_000 * (i + 1), "transfer_payee_id": nil, "direct_import_linked": i == 0,
			"direct_import_in_error": false, "last_reconciled_at": "2026-02-03T04:05:06Z", "debt_interest_rates": object{"2026-01-01": 3500}, "debt_minimum_payments": nil, "debt_escrow_amounts": object{}})
	}
	for i := range max(y.cfg.Categories/4, 1) {
		y.put(b, groups, object{"name": fmt.Sprintf("Group %d", i+1), "hidden": i == 0})
	}
	for i := range y.cfg.Categories {
		group := b.all[groups][i%len(b.all[groups])]
		y.put(b, cats, object{"category_group_id": group.id, "name": fmt.Sprintf("Category %d", i+1), "hidden": i == 0, "budgeted": 50_000, "activity": -12_340, "balance": 37_660, "note": nil,
			"goal_type": "NEED", "goal_needs_whole_amount": nil, "goal_day": 4, "goal_cadence": 1, "goal_cadence_frequency": 1, "goal_creation_month": "2025-01-01", "goal_target": 50_000,
			"goal_target_date": nil, "goal_percentage_complete": 100, "goal_months_to_budget": nil, "goal_under_funded": 0, "goal_overall_funded": 50_000, "goal_overall_left": 0, "goal_snoozed_at": nil})
	}
	for i := range y.cfg.Payees {
		p := y.put(b, payees, object{"name": fmt.Sprintf("Shop %d", i+1), "transfer_account_id": nil})
		if i%3 == 0 {
			y.put(b, places, object{"payee_id": p.id, "latitude": "48.2082", "longitude": fmt.Sprintf("16.%04d", i)})
		}
	}
	for i := range y.cfg.Months {
		y.put(b, months, object{"month": y.firstOf(i - y.cfg.Months + 2).Format(time.DateOnly), "income": 2_000_000, "budgeted": 1_500_000, "activity": -1_200_000, "to_be_budgeted": 500_000, "age_of_money": 30 + i, "note": nil})
	}
	for i := range y.cfg.Transactions {
		y.addTransaction(b, y.firstOf(0).AddDate(0, 0, -90*(y.cfg.Transactions-i-1)))
	}
	y.moveMoney(b, -1)
	for i := range 2 {
		y.put(b, scheduled, object{"date_first": "2025-01-01", "date_next": y.firstOf(1).Format(time.DateOnly), "frequency": "monthly", "amount": -700_000 - i, "memo": "rent", "flag_color": nil, "flag_name": nil,
			"account_id": b.all[accounts][0].id, "account_name": "Account 1", "payee_id": nil, "payee_name": nil, "category_id": nil, "category_name": nil, "transfer_account_id": nil, "subtransactions": []any{}})
	}
	return b
}

// moveMoney moves money between two categories of a month, once singly and once as part of a group.
func (y *YNAB) moveMoney(b *budget, month int) {
	at := y.firstOf(month)
	g := y.put(b, movementGroups, object{"group_created_at": at.Format(time.RFC3339), "month": at.Format(time.DateOnly),
		"note": nil, "performed_by_user_id": "person-3107"})
	for i, group := range []any{nil, g.id} {
		y.put(b, movements, object{"month": at.Format(time.DateOnly), "moved_at": at.Format(time.RFC3339),
			"note": fmt.Sprintf("covers %d", i), "money_movement_group_id": group,
			"performed_by_user_id": "person-3107", "from_category_id": nil, "to_category_id": y.pick(b, cats).id,
			"amount": 5000 + i})
	}
}

// addTransaction is something that was bought, sometimes as two things.
func (y *YNAB) addTransaction(b *budget, at time.Time) *thing {
	account, payee, category := y.pick(b, accounts), y.pick(b, payees), y.pick(b, cats)
	amount := -1000 - 10*y.choice.IntN(100_000)
	parts := []any{}
	n := y.lastID + 1
	t := y.put(b, trans, object{"date": at.Format(time.DateOnly), "amount": amount, "memo": fmt.Sprintf("purchase %d", n), "cleared": "cleared", "approved": true, "flag_color": nil, "flag_name": nil,
		"account_id": account.id, "account_name": account.data["name"], "payee_id": payee.id, "payee_name": payee.data["name"], "category_id": category.id, "category_name": category.data["name"],
		"transfer_account_id": nil, "transfer_transaction_id": nil, "matched_transaction_id": nil, "import_id": fmt.Sprintf("YNAB:%d:%s:1", amount, at.Format(time.DateOnly)),
		"import_payee_name": nil, "import_payee_name_original": nil, "debt_transaction_type": nil, "subtransactions": parts})
	if n%7 == 0 {
		for i, part := range []int{amount / 2, amount - amount/2} {
			parts = append(parts, object{"id": y.id(), "transaction_id": t.id, "amount": part,
				"memo": []any{nil, "the other half"}[i], "deleted": false})
		}
		t.data["subtransactions"] = parts
	} else if n%5 == 0 {
		t.id += "_" + at.Format(time.DateOnly) // one that a schedule made
	}
	return t
}

// pick is one of the live rows.
func (y *YNAB) pick(b *budget, collection string) *thing {
	all := b.live(collection)
	return all[y.choice.IntN(len(all))]
}

func (b *budget) object(y *YNAB) object {
	n := 0
	for i, other := range y.budgets {
		if other == b {
			n = i
		}
	}
	return object{"id": b.id, "name": b.name, "last_modified_on": b.modified.Format(time.RFC3339), "first_month": b.all[months][0].data["month"], "last_month": b.all[months][len(b.all[months])-1].data["month"],
		"date_format": object{"format": "DD/MM/YYYY"}, "currency_format": currencies[n%len(currencies)]}
}

// inMonth is a category as it stood in a month.
func (b *budget) inMonth(month, category *thing) object {
	o := category.object()
	day := month.data["month"].(string)
	o["budgeted"] = 10_000 + 100*len(category.id) + b.moved[day+category.id]
	o["balance"] = o["budgeted"]
	return o
}
