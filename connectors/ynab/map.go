package ynab

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// entity is what all rows of a budget have. Amounts are thousandths of the currency, as YNAB gives them, and
// never pass through a floating point number. A pointer is a member that may be null or absent, and is then absent
// from the record.
type entity struct {
	ID      string `json:"id"`
	Budget  string `json:"budget_id"`
	Deleted bool   `json:"deleted"`
}

func (e *entity) self() *entity { return e }

// finish adds what the row itself does not say.
func (e *entity) finish(budget string) { e.Budget = budget }

// row is a record whose members are called as YNAB calls them.
type row[T any] interface {
	*T
	self() *entity
	finish(budget string)
}

// each makes the record of one row: an upsert, or a deletion.
func each[T any, R row[T]](budget string, raw jsontext.Value) []connectorkit.Record {
	var r T
	err := json.Unmarshal(raw, &r)
	R(&r).finish(budget)
	e := R(&r).self()
	switch {
	case err != nil || e.ID == "":
		return []connectorkit.Record{connectorkit.Unreadable(named(raw), err)}
	case e.Deleted:
		return []connectorkit.Record{connectorkit.Delete(e.ID)}
	}
	return []connectorkit.Record{connectorkit.Upsert(&r)}
}

// named is the id of a thing; empty when it has none that can be read.
func named(raw jsontext.Value) string {
	var wire struct {
		ID any `json:"id"`
	}
	if json.Unmarshal(raw, &wire) != nil || wire.ID == nil {
		return ""
	}
	return fmt.Sprint(wire.ID)
}

type budgetRecord struct {
	ID               string  `json:"id"`
	Name             string  `json:"name"`
	Modified         *string `json:"last_modified_on,omitzero"`
	FirstMonth       *string `json:"first_month,omitzero"`
	LastMonth        *string `json:"last_month,omitzero"`
	Currency         *string `json:"currency_iso_code,omitzero"`
	Symbol           *string `json:"currency_symbol,omitzero"`
	SymbolFirst      *bool   `json:"currency_symbol_first,omitzero"`
	DecimalDigits    *int64  `json:"currency_decimal_digits,omitzero"`
	DecimalSeparator *string `json:"currency_decimal_separator,omitzero"`
	GroupSeparator   *string `json:"currency_group_separator,omitzero"`
	DateFormat       *string `json:"date_format_string,omitzero"`
}

func readBudget(raw jsontext.Value) connectorkit.ListItem {
	var wire struct {
		ID         string  `json:"id"`
		Name       string  `json:"name"`
		Modified   *string `json:"last_modified_on"`
		FirstMonth *string `json:"first_month"`
		LastMonth  *string `json:"last_month"`
		DateFormat *struct {
			Format *string `json:"format"`
		} `json:"date_format"`
		Currency *struct {
			Code        *string `json:"iso_code"`
			Digits      *int64  `json:"decimal_digits"`
			Decimal     *string `json:"decimal_separator"`
			SymbolFirst *bool   `json:"symbol_first"`
			Group       *string `json:"group_separator"`
			Symbol      *string `json:"currency_symbol"`
		} `json:"currency_format"`
	}
	if err := json.Unmarshal(raw, &wire); err != nil || wire.ID == "" {
		return connectorkit.ListItem{Record: connectorkit.Unreadable(named(raw), err)}
	}
	r := budgetRecord{ID: wire.ID, Name: wire.Name, Modified: wire.Modified, FirstMonth: wire.FirstMonth, LastMonth: wire.LastMonth}
	if wire.DateFormat != nil {
		r.DateFormat = wire.DateFormat.Format
	}
	if c := wire.Currency; c != nil {
		r.Currency, r.DecimalDigits, r.DecimalSeparator, r.SymbolFirst, r.GroupSeparator, r.Symbol = c.Code, c.Digits, c.Decimal, c.SymbolFirst, c.Group, c.Symbol
	}
	return connectorkit.ListItem{Key: wire.ID, Record: connectorkit.Upsert(r)}
}

type accountRecord struct {
	entity
	Name           string           `json:"name"`
	Type           string           `json:"type"`
	OnBudget       *bool            `json:"on_budget,omitzero"`
	Closed         *bool            `json:"closed,omitzero"`
	TransferPayee  *string          `json:"transfer_payee_id,omitzero"`
	Linked         *bool            `json:"direct_import_linked,omitzero"`
	LinkInError    *bool            `json:"direct_import_in_error,omitzero"`
	LastReconciled *string          `json:"last_reconciled_at,omitzero"`
	Note           *string          `json:"note,omitzero"`
	InterestRates  map[string]int64 `json:"debt_interest_rates,omitzero"`
	MinimumPayment map[string]int64 `json:"debt_minimum_payments,omitzero"`
	EscrowAmounts  map[string]int64 `json:"debt_escrow_amounts,omitzero"`
}

type statRecord struct {
	ID         string `json:"id"`
	Account    string `json:"account_id"`
	Budget     string `json:"budget_id"`
	ObservedOn string `json:"observed_on"`
	Balance    *int64 `json:"balance,omitzero"`
	Cleared    *int64 `json:"cleared_balance,omitzero"`
	Uncleared  *int64 `json:"uncleared_balance,omitzero"`
}

func readStat(budget, day string, raw jsontext.Value) connectorkit.Record {
	var r statRecord
	err := json.Unmarshal(raw, &r)
	if err != nil || r.ID == "" {
		return connectorkit.Unreadable(named(raw), err)
	}
	r.Account, r.Budget, r.ObservedOn = r.ID, budget, day
	r.ID = r.Account + ":" + day
	return connectorkit.Upsert(r)
}

type groupRecord struct {
	entity
	Name   string `json:"name"`
	Hidden *bool  `json:"hidden,omitzero"`
}

// amounts are what a category has, now or in a month.
type amounts struct {
	Hidden            *bool   `json:"hidden,omitzero"`
	Budgeted          *int64  `json:"budgeted,omitzero"`
	Activity          *int64  `json:"activity,omitzero"`
	Balance           *int64  `json:"balance,omitzero"`
	Note              *string `json:"note,omitzero"`
	GoalType          *string `json:"goal_type,omitzero"`
	GoalTarget        *int64  `json:"goal_target,omitzero"`
	GoalPercentage    *int64  `json:"goal_percentage_complete,omitzero"`
	GoalMonths        *int64  `json:"goal_months_to_budget,omitzero"`
	GoalCreation      *string `json:"goal_creation_month,omitzero"`
	GoalUnderFunded   *int64  `json:"goal_under_funded,omitzero"`
	GoalOverallFunded *int64  `json:"goal_overall_funded,omitzero"`
	GoalOverallLeft   *int64  `json:"goal_overall_left,omitzero"`
}

type categoryRecord struct {
	entity
	amounts
	Group            *string `json:"category_group_id,omitzero"`
	Name             string  `json:"name"`
	GoalWhole        *bool   `json:"goal_needs_whole_amount,omitzero"`
	GoalDay          *int64  `json:"goal_day,omitzero"`
	GoalCadence      *int64  `json:"goal_cadence,omitzero"`
	GoalCadenceEvery *int64  `json:"goal_cadence_frequency,omitzero"`
	GoalTargetDate   *string `json:"goal_target_date,omitzero"`
	GoalSnoozed      *string `json:"goal_snoozed_at,omitzero"`
}

// categories are the rows within a group. A group of an answer about changes holds the changed ones alone: absence
// means nothing.
func categories(budget string, raw jsontext.Value) (records []connectorkit.Record) {
	var group struct {
		Categories []jsontext.Value `json:"categories"`
	}
	if err := json.Unmarshal(raw, &group); err != nil {
		return []connectorkit.Record{connectorkit.Unreadable(named(raw), err)}
	}
	for _, category := range group.Categories {
		records = append(records, each[categoryRecord](budget, category)...)
	}
	return records
}

type monthCategoryRecord struct {
	entity
	amounts
	Month    string  `json:"month"`
	Category string  `json:"category_id"`
	Name     string  `json:"category_name"`
	Group    *string `json:"category_group_id,omitzero"`
}

func monthKey(budget, month, category string) string { return budget + ":" + month + ":" + category }

// readMonthCategory reads a category of a month: its id and its record; no record when it is marked as deleted, no
// id when it cannot be read.
func readMonthCategory(budget, month string, raw jsontext.Value) (string, *connectorkit.Record) {
	var c categoryRecord
	err := json.Unmarshal(raw, &c)
	switch {
	case err != nil || c.ID == "":
		rec := connectorkit.Unreadable(named(raw), err)
		return "", &rec
	case c.Deleted:
		return c.ID, nil
	}
	rec := connectorkit.Upsert(&monthCategoryRecord{
		entity: entity{ID: monthKey(budget, month, c.ID), Budget: budget}, amounts: c.amounts, Month: month, Category: c.ID, Name: c.Name, Group: c.Group,
	})
	return c.ID, &rec
}

type payeeRecord struct {
	entity
	Name            string  `json:"name"`
	TransferAccount *string `json:"transfer_account_id,omitzero"`
}

type locationRecord struct {
	entity
	Payee     string  `json:"payee_id"`
	Latitude  *string `json:"latitude,omitzero"`
	Longitude *string `json:"longitude,omitzero"`
}

type movementRecord struct {
	entity
	Month  *string `json:"month,omitzero"`
	Moved  *string `json:"moved_at,omitzero"`
	Note   *string `json:"note,omitzero"`
	Group  *string `json:"money_movement_group_id,omitzero"`
	User   *string `json:"performed_by_user_id,omitzero"`
	From   *string `json:"from_category_id,omitzero"`
	To     *string `json:"to_category_id,omitzero"`
	Amount int64   `json:"amount"`
}

type movementGroupRecord struct {
	entity
	Created string  `json:"group_created_at"`
	Month   string  `json:"month"`
	Note    *string `json:"note,omitzero"`
	User    *string `json:"performed_by_user_id,omitzero"`
}

// thing reads a row of a collection that is listed whole. A row that is marked as deleted returns nil: the inventory
// misses it.
func thing[T any, R row[T]](budget string, raw jsontext.Value) *connectorkit.ListItem {
	var r T
	err := json.Unmarshal(raw, &r)
	e := R(&r).self()
	switch {
	case err != nil || e.ID == "":
		return &connectorkit.ListItem{Record: connectorkit.Unreadable(named(raw), err)}
	case e.Deleted:
		return nil
	}
	R(&r).finish(budget)
	return &connectorkit.ListItem{Key: e.ID, Record: connectorkit.Upsert(&r)}
}

type transactionRecord struct {
	entity
	Account         string           `json:"account_id"`
	AccountName     *string          `json:"account_name,omitzero"`
	Date            string           `json:"date"`
	Amount          int64            `json:"amount"`
	Payee           *string          `json:"payee_id,omitzero"`
	PayeeName       *string          `json:"payee_name,omitzero"`
	Category        *string          `json:"category_id,omitzero"`
	CategoryName    *string          `json:"category_name,omitzero"`
	Memo            *string          `json:"memo,omitzero"`
	Cleared         *string          `json:"cleared,omitzero"`
	Approved        *bool            `json:"approved,omitzero"`
	FlagColor       *string          `json:"flag_color,omitzero"`
	FlagName        *string          `json:"flag_name,omitzero"`
	TransferAccount *string          `json:"transfer_account_id,omitzero"`
	Transfer        *string          `json:"transfer_transaction_id,omitzero"`
	Matched         *string          `json:"matched_transaction_id,omitzero"`
	Import          *string          `json:"import_id,omitzero"`
	ImportPayee     *string          `json:"import_payee_name,omitzero"`
	ImportOriginal  *string          `json:"import_payee_name_original,omitzero"`
	DebtType        *string          `json:"debt_transaction_type,omitzero"`
	Split           bool             `json:"is_split"`
	Parts           []jsontext.Value `json:"subtransactions,omitzero"`
}

func (r *transactionRecord) finish(budget string) {
	r.Budget, r.Parts = budget, living(r.Parts)
	r.Split = len(r.Parts) > 0
}

// living are the parts that are not deleted.
func living(parts []jsontext.Value) []jsontext.Value {
	out := []jsontext.Value{}
	for _, raw := range parts {
		var part struct {
			Deleted bool `json:"deleted"`
		}
		if json.Unmarshal(raw, &part) != nil || !part.Deleted {
			out = append(out, raw)
		}
	}
	return out
}

type scheduledRecord struct {
	entity
	DateFirst       string           `json:"date_first"`
	DateNext        string           `json:"date_next"`
	Frequency       string           `json:"frequency"`
	Amount          int64            `json:"amount"`
	Account         string           `json:"account_id"`
	AccountName     *string          `json:"account_name,omitzero"`
	Payee           *string          `json:"payee_id,omitzero"`
	PayeeName       *string          `json:"payee_name,omitzero"`
	Category        *string          `json:"category_id,omitzero"`
	CategoryName    *string          `json:"category_name,omitzero"`
	Memo            *string          `json:"memo,omitzero"`
	TransferAccount *string          `json:"transfer_account_id,omitzero"`
	FlagColor       *string          `json:"flag_color,omitzero"`
	FlagName        *string          `json:"flag_name,omitzero"`
	Parts           []jsontext.Value `json:"subtransactions,omitzero"`
}

func (r *scheduledRecord) finish(budget string) { r.Budget, r.Parts = budget, living(r.Parts) }

type monthRecord struct {
	entity
	Month        string  `json:"month"`
	Income       *int64  `json:"income,omitzero"`
	Budgeted     *int64  `json:"budgeted,omitzero"`
	Activity     *int64  `json:"activity,omitzero"`
	ToBeBudgeted *int64  `json:"to_be_budgeted,omitzero"`
	AgeOfMoney   *int64  `json:"age_of_money,omitzero"`
	Note         *string `json:"note,omitzero"`
}

// finish names the month: YNAB has no id for it.
func (r *monthRecord) finish(budget string) {
	r.Budget, r.ID = budget, ""
	if _, err := time.Parse(time.DateOnly, r.Month); err == nil {
		r.ID = budget + "|" + r.Month
	}
}
