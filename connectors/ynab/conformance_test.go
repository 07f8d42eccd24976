//pdpp:tier programs

package ynab_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/ynab"
)

// TestConformance holds the connector to the suite; long, to all of it.
func TestConformance(t *testing.T) {
	small := ynab.Config{Seed: 5, Budgets: 2, Accounts: 3, Categories: 5, Payees: 6, Months: 14, Transactions: 20}
	// Every run reads nine lists and three months of each budget again: an account that shows that a second run makes at
	// most half of the requests has more months than those of the small one.
	large := ynab.Config{Seed: 5, Budgets: 3, Accounts: 4, Categories: 9, Payees: 20, Months: 20, Transactions: 150}
	connectortest.RunSuite(t, target(t, small), target(t, large))
}

const token = "token_under_test"

func target(t *testing.T, cfg ynab.Config) connectortest.Target {
	t.Helper()
	return connectortest.Target{
		Connector:  connectortest.BuiltInConnector(t, "ynab"),
		Start:      func(t *testing.T) *connectortest.Sim { return start(t, cfg) },
		Credential: "YNAB_PERSONAL_ACCESS_TOKEN",
		Changes: []providersim.Mutation{
			{Op: "buy", N: 3}, {Op: "edit", N: 3}, {Op: "rename_payee", N: 1}, {Op: "move", N: 2}, {Op: "assign", N: 2},
			{Op: "delete_category", N: 1},
			{Op: "move_money", N: 1}, {Op: "forget_place", N: 1}, {Op: "reschedule", N: 1}, {Op: "hide_group", N: 1},
			{Op: "add_budget", N: 1},
		},
		Deletion: providersim.Mutation{Op: "delete", N: 2}, DeletedStream: ynab.StreamTransactions,
		Scoped: ynab.StreamTransactions, OptionalField: "memo",
		Stored: stored,
		Leave:  map[string]string{"forgotten bookmark": "a full refresh samples the balances of the day again"},
	}
}

func start(t *testing.T, cfg ynab.Config) *connectortest.Sim {
	t.Helper()
	cfg.Token = token
	s, err := ynab.Start(cfg)
	if err != nil {
		t.Fatalf("start provider: %v", err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return &connectortest.Sim{Provider: s.Sim, Gate: s.Sim.Gate(),
		Env: map[string]string{"YNAB_PERSONAL_ACCESS_TOKEN": token, "PDPP_YNAB_BASE_URL": s.BaseURL + "/v1"}}
}

var (
	goal = []string{"hidden", "budgeted", "activity", "balance", "note", "goal_type", "goal_target",
		"goal_percentage_complete", "goal_months_to_budget", "goal_creation_month", "goal_under_funded",
		"goal_overall_funded", "goal_overall_left"}
	booking = []string{"amount", "account_id", "account_name", "payee_id", "payee_name", "category_id", "category_name",
		"memo", "transfer_account_id", "flag_color", "flag_name", "subtransactions"}
	// members are those of each stream, besides what all have.
	members = map[string][]string{
		ynab.StreamBudgets: {"name", "last_modified_on", "first_month", "last_month"},
		ynab.StreamAccounts: {"name", "type", "on_budget", "closed", "transfer_payee_id", "direct_import_linked",
			"direct_import_in_error", "last_reconciled_at", "note",
			"debt_interest_rates", "debt_minimum_payments", "debt_escrow_amounts"},
		ynab.StreamStats:  {"account_id", "observed_on", "balance", "cleared_balance", "uncleared_balance"},
		ynab.StreamGroups: {"name", "hidden"},
		ynab.StreamMovements: {"month", "moved_at", "note", "money_movement_group_id", "performed_by_user_id",
			"from_category_id", "to_category_id", "amount"},
		ynab.StreamMoveGroups: {"group_created_at", "month", "note", "performed_by_user_id"},
		ynab.StreamCategories: slices.Concat(goal, []string{"category_group_id", "name", "goal_needs_whole_amount",
			"goal_day", "goal_cadence", "goal_cadence_frequency",
			"goal_target_date", "goal_snoozed_at"}),
		ynab.StreamPayees:    {"name", "transfer_account_id"},
		ynab.StreamLocations: {"payee_id", "latitude", "longitude"},
		ynab.StreamTransactions: slices.Concat(booking, []string{"date", "cleared", "approved", "transfer_transaction_id",
			"matched_transaction_id", "import_id", "import_payee_name",
			"import_payee_name_original", "debt_transaction_type"}),
		ynab.StreamScheduled: slices.Concat(booking, []string{"date_first", "date_next", "frequency"}),
		ynab.StreamMonths:    {"month", "income", "budgeted", "activity", "to_be_budgeted", "age_of_money", "note"},
		ynab.StreamMonthly:   slices.Concat(goal, []string{"month", "category_id", "category_name", "category_group_id"}),
	}
)

// stored returns the record that the store must hold for an object of YNAB, independent of the connector's mapping.
func stored(stream, _ string, data json.RawMessage) (json.RawMessage, error) {
	var w map[string]any
	if err := json.Unmarshal(data, &w); err != nil {
		return nil, err
	}
	r := map[string]any{}
	for _, name := range append([]string{"id", "budget_id", "deleted"}, members[stream]...) {
		if w[name] != nil {
			r[name] = w[name]
		}
	}
	switch stream {
	case ynab.StreamBudgets:
		r["date_format_string"] = w["date_format"].(map[string]any)["format"]
		currency := w["currency_format"].(map[string]any)
		for name, from := range map[string]string{"currency_iso_code": "iso_code", "currency_symbol": "currency_symbol",
			"currency_symbol_first": "symbol_first", "currency_decimal_digits": "decimal_digits",
			"currency_decimal_separator": "decimal_separator", "currency_group_separator": "group_separator"} {
			r[name] = currency[from]
		}
	case ynab.StreamTransactions:
		r["is_split"] = len(w["subtransactions"].([]any)) > 0
	}
	return json.Marshal(r)
}
