package ynab

import (
	"fmt"
	"maps"
	"time"

	"github.com/pdpp-go/pdpp/providersim/rest"
)

type jsonObject = rest.Object

// budget is one with everything in it. It numbers its own changes.
type budget struct {
	*rest.Store
	n        int
	id, name string
	gone     bool
	modified time.Time
	moved    map[string]int // of a month and a category: what was assigned besides
	sampled  string         // the last day with balances
}

const (
	collectionAccounts     = "accounts"
	collectionGroups       = "category_groups"
	collectionCategories   = "categories"
	collectionPayees       = "payees"
	collectionLocations    = "payee_locations"
	collectionTransactions = "transactions"
	collectionScheduled    = "scheduled_transactions"
	collectionMonths       = "months"

	collectionMovements = "money_movements"
	movementGroups      = "money_movement_groups"
)

// addRow adds a row.
func (y *YNAB) addRow(b *budget, collection string, data jsonObject) *rest.Row {
	return b.Add(collection, &rest.Row{ID: rest.UUID(y.NextID()), Data: data})
}

func toJSON(t *rest.Row) jsonObject {
	o := maps.Clone(t.Data)
	o["id"], o["deleted"] = t.ID, t.Gone
	return o
}

// firstOfMonth is the first day of the month so many months from now.
func (y *YNAB) firstOfMonth(n int) time.Time {
	now := y.Now().UTC()
	return time.Date(now.Year(), now.Month()+time.Month(n), 1, 0, 0, 0, 0, time.UTC)
}

var currencies = []jsonObject{
	{"iso_code": "EUR", "example_format": "123.456,78", "decimal_digits": 2, "decimal_separator": ",",
		"symbol_first": false, "group_separator": ".", "currency_symbol": "€", "display_symbol": true},
	{"iso_code": "JPY", "example_format": "123,456", "decimal_digits": 0, "decimal_separator": ".", "symbol_first": true,
		"group_separator": ",", "currency_symbol": "¥", "display_symbol": true},
}

func (y *YNAB) generateBudget() *budget {
	n := len(y.budgets)
	b := &budget{Store: rest.NewStore(), n: n, id: rest.UUID(y.NextID()), name: fmt.Sprintf("Household %d", n+1),
		moved: map[string]int{}, modified: y.firstOfMonth(0)}
	y.budgets = append(y.budgets, b)
	for i := range y.cfg.Accounts {
		y.addRow(b, collectionAccounts, jsonObject{"name": fmt.Sprintf("Account %d", i+1),
			"type": []string{"checking", "savings", "mortgage"}[i%3], "on_budget": i%3 != 2, "closed": false, "note": nil,
			"balance": 100_000 * (i + 1), "cleared_balance": 90_000 * (i + 1), "uncleared_balance": 10_000 * (i + 1),
			"transfer_payee_id": nil, "direct_import_linked": i == 0,
			"direct_import_in_error": false, "last_reconciled_at": "2026-02-03T04:05:06Z",
			"debt_interest_rates": jsonObject{"2026-01-01": 3500}, "debt_minimum_payments": nil,
			"debt_escrow_amounts": jsonObject{}})
	}
	for i := range max(y.cfg.Categories/4, 1) {
		y.addRow(b, collectionGroups, jsonObject{"name": fmt.Sprintf("Group %d", i+1), "hidden": i == 0})
	}
	for i := range y.cfg.Categories {
		group := b.Rows[collectionGroups][i%len(b.Rows[collectionGroups])]
		y.addRow(b, collectionCategories, jsonObject{"category_group_id": group.ID, "name": fmt.Sprintf("Category %d", i+1),
			"hidden": i == 0, "budgeted": 50_000, "activity": -12_340, "balance": 37_660, "note": nil,
			"goal_type": "NEED", "goal_needs_whole_amount": nil, "goal_day": 4, "goal_cadence": 1, "goal_cadence_frequency": 1,
			"goal_creation_month": "2025-01-01", "goal_target": 50_000,
			"goal_target_date": nil, "goal_percentage_complete": 100, "goal_months_to_budget": nil, "goal_under_funded": 0,
			"goal_overall_funded": 50_000, "goal_overall_left": 0, "goal_snoozed_at": nil})
	}
	for i := range y.cfg.Payees {
		p := y.addRow(b, collectionPayees, jsonObject{"name": fmt.Sprintf("Shop %d", i+1), "transfer_account_id": nil})
		if i%3 == 0 {
			y.addRow(b, collectionLocations,
				jsonObject{"payee_id": p.ID, "latitude": "48.2082", "longitude": fmt.Sprintf("16.%04d", i)})
		}
	}
	for i := range y.cfg.Months {
		y.addRow(b, collectionMonths, jsonObject{"month": y.firstOfMonth(i - y.cfg.Months + 2).Format(time.DateOnly),
			"income":   2_000_000,
			"budgeted": 1_500_000, "activity": -1_200_000, "to_be_budgeted": 500_000, "age_of_money": 30 + i, "note": nil})
	}
	for i := range y.cfg.Transactions {
		y.addTransaction(b, y.firstOfMonth(0).AddDate(0, 0, -90*(y.cfg.Transactions-i-1)))
	}
	y.addMoneyMovements(b, -1)
	for i := range 2 {
		y.addRow(b, collectionScheduled,
			jsonObject{"date_first": "2025-01-01", "date_next": y.firstOfMonth(1).Format(time.DateOnly),
				"frequency": "monthly", "amount": -700_000 - i, "memo": "rent", "flag_color": nil, "flag_name": nil,
				"account_id": b.Rows[collectionAccounts][0].ID, "account_name": "Account 1", "payee_id": nil, "payee_name": nil,
				"category_id": nil, "category_name": nil, "transfer_account_id": nil, "subtransactions": []any{}})
	}
	return b
}

// addMoneyMovements moves money between two categories of a month, once singly and once as part of a group.
func (y *YNAB) addMoneyMovements(b *budget, month int) {
	at := y.firstOfMonth(month)
	g := y.addRow(b, movementGroups,
		jsonObject{"group_created_at": at.Format(time.RFC3339), "month": at.Format(time.DateOnly),
			"note": nil, "performed_by_user_id": "person-3107"})
	for i, group := range []any{nil, g.ID} {
		y.addRow(b, collectionMovements, jsonObject{"month": at.Format(time.DateOnly), "moved_at": at.Format(time.RFC3339),
			"note": fmt.Sprintf("covers %d", i), "money_movement_group_id": group,
			"performed_by_user_id": "person-3107", "from_category_id": nil,
			"to_category_id": y.pickRow(b, collectionCategories).ID, "amount": 5000 + i})
	}
}

// addTransaction is something that was bought, sometimes as two things.
func (y *YNAB) addTransaction(b *budget, at time.Time) *rest.Row {
	account, payee, category := y.pickRow(b, collectionAccounts), y.pickRow(b, collectionPayees),
		y.pickRow(b, collectionCategories)
	amount := -1000 - 10*y.Random.IntN(100_000)
	parts := []any{}
	n := y.NextID()
	t := y.addRow(b, collectionTransactions, jsonObject{"date": at.Format(time.DateOnly), "amount": amount,
		"memo":    fmt.Sprintf("purchase %d", n),
		"cleared": "cleared", "approved": true, "flag_color": nil, "flag_name": nil,
		"account_id": account.ID, "account_name": account.Data["name"], "payee_id": payee.ID,
		"payee_name": payee.Data["name"], "category_id": category.ID, "category_name": category.Data["name"],
		"transfer_account_id": nil, "transfer_transaction_id": nil, "matched_transaction_id": nil,
		"import_id":         fmt.Sprintf("YNAB:%d:%s:1", amount, at.Format(time.DateOnly)),
		"import_payee_name": nil, "import_payee_name_original": nil, "debt_transaction_type": nil, "subtransactions": parts})
	if n%7 == 0 {
		for i, part := range []int{amount / 2, amount - amount/2} {
			parts = append(parts, jsonObject{"id": rest.UUID(y.NextID()), "transaction_id": t.ID, "amount": part,
				"memo": []any{nil, "the other half"}[i], "deleted": false})
		}
		t.Data["subtransactions"] = parts
	} else if n%5 == 0 {
		t.ID += "_" + at.Format(time.DateOnly) // one that a schedule made
	}
	return t
}

// pickRow returns a random row that is not deleted.
func (y *YNAB) pickRow(b *budget, collection string) *rest.Row {
	return rest.Pick(y.Service, b.Live(collection), nil)
}

func (b *budget) toJSON() jsonObject {
	return jsonObject{"id": b.id, "name": b.name, "last_modified_on": b.modified.Format(time.RFC3339),
		"first_month": b.Rows[collectionMonths][0].Data["month"],
		"last_month":  b.Rows[collectionMonths][len(b.Rows[collectionMonths])-1].Data["month"],
		"date_format": jsonObject{"format": "DD/MM/YYYY"}, "currency_format": currencies[b.n%len(currencies)]}
}

// categoryInMonth returns a category with its values in a month.
func (b *budget) categoryInMonth(month, category *rest.Row) jsonObject {
	o := toJSON(category)
	day := month.Data["month"].(string)
	o["budgeted"] = 10_000 + 100*len(category.ID) + b.moved[day+category.ID]
	o["balance"] = o["budgeted"]
	return o
}

// Streams of the ground truth.
const (
	StreamBudgets      = "budgets"
	StreamAccounts     = collectionAccounts
	StreamStats        = "account_stats"
	StreamGroups       = collectionGroups
	StreamCategories   = collectionCategories
	StreamPayees       = collectionPayees
	StreamLocations    = collectionLocations
	StreamTransactions = collectionTransactions
	StreamScheduled    = collectionScheduled
	StreamMonths       = collectionMonths
	StreamMonthly      = "month_categories"
	StreamMovements    = collectionMovements
	StreamMoveGroups   = movementGroups
)

// truth adds everything that exists now, with its budget. Balances are those of the first full answer of a day. The
// contents of a deleted budget keep their last state, except in collections that are listed completely in every run.
func (y *YNAB) truth(add rest.AddTruth) {
	for _, b := range y.budgets {
		add(StreamBudgets, b.id, b.toJSON(), b.gone)
		for collection, rows := range b.Rows {
			whole := collection == collectionLocations || collection == collectionMovements || collection == movementGroups
			for _, x := range rows {
				o := toJSON(x)
				o["budget_id"] = b.id
				if collection == collectionMonths {
					o["id"] = b.id + "|" + o["month"].(string)
				}
				add(collection, o["id"].(string), o, x.Gone || b.gone && whole)
			}
		}
		for _, m := range b.Rows[collectionMonths] {
			for _, c := range b.Rows[collectionCategories] {
				o, month := b.categoryInMonth(m, c), m.Data["month"].(string)
				key := b.id + ":" + month + ":" + c.ID
				o["budget_id"], o["category_id"], o["category_name"], o["month"], o["id"] = b.id, c.ID, o["name"], month, key
				add(StreamMonthly, key, o, m.Gone || c.Gone)
			}
		}
	}
	for key, o := range y.samples {
		add(StreamStats, key, o, false)
	}
}
