// Package ynab collects a person's budgets from YNAB: accounts with their balances, categories, payees,
// transactions and months.
//
//	manifest.json   what it declares: streams, schemas, the form for the token
//	ynab.go         where the collections are, and how YNAB refuses
//	months.go       what each category had in each month
package ynab

import (
	_ "embed"
	"maps"
	"net/http"
	"net/url"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the YNAB connector.
func Connector() connectorkit.Connector { return rest.MustNew(manifestJSON, source) }

var source = rest.Source{
	BaseURL: "https://api.ynab.com/v1",
	Auth:    rest.BearerKey("YNAB_PERSONAL_ACCESS_TOKEN"),
	QuotaOf: []string{"YNAB_PERSONAL_ACCESS_TOKEN"},
	// YNAB allows 200 requests in any hour. The rest is left to other programs with the same token.
	Quota: &rest.RequestQuota{Requests: 180, Window: time.Hour},
	// The transactions of many years come in one answer.
	MaxBody: 256 << 20, Timeout: 2 * time.Minute,
	// YNAB calls budgets plans now; the older name in its paths is budgets.
	Settings: []rest.Setting{{Name: "plans", Variable: "PDPP_YNAB_COLLECTION", Default: "plans"}},
	Account:  &rest.Lookup{Request: rest.Request{Path: "user"}, Member: "data.user.id"},
	Errors: []rest.ErrorRule{
		refusal("403.1", "Your YNAB subscription has ended. Renew it at app.ynab.com, then run again."),
		refusal("403.2", "Your YNAB trial has ended. Subscribe at app.ynab.com, then run again."),
		refusal("403.3", "This token may not read your budgets. Make a new one at app.ynab.com/settings/developer and "+
			"connect again."),
		refusal("403.4", "Your YNAB account has reached its data limit. Ask YNAB's support."),
	},
	// Streams with one request come first, the months one by one come last.
	Streams: []rest.Stream{
		{Name: "budgets", Request: rest.Request{Path: "{plans}"}, Shared: true,
			Select: rest.FirstList("data.budgets", "data.plans"),
			Fields: rest.Fields{
				"date_format_string": rest.From("date_format.format"), "currency_iso_code": rest.From("currency_format.iso_code"),
				"currency_symbol":            rest.From("currency_format.currency_symbol"),
				"currency_symbol_first":      rest.From("currency_format.symbol_first"),
				"currency_decimal_digits":    rest.From("currency_format.decimal_digits"),
				"currency_decimal_separator": rest.From("currency_format.decimal_separator"),
				"currency_group_separator":   rest.From("currency_format.group_separator"),
			}},
		changing("accounts", "accounts", nil),
		transactions(),
		// A balance in the account's own record would make every purchase a new account.
		{Name: "account_stats", Request: rest.Request{Path: "{plans}/{id}/accounts"}, Items: "data.accounts",
			Partitions: budgets, Sync: rest.DailySample{Bookmark: "budgets"},
			Fields: rest.Fields{"id": rest.Joined(":", rest.From("id"), rest.FromPartition("today")),
				"account_id": rest.From("id"), "budget_id": rest.FromPartition("id"),
				"observed_on": rest.FromPartition("today")}},
		twice(changing("category_groups", "categories", nil), "data.category_groups"),
		twice(changing("categories", "categories", nil), "data.category_groups.*.categories"),
		changing("payees", "payees", nil),
		listed("payee_locations"),
		listed("money_movements"),
		listed("money_movement_groups"),
		changing("scheduled_transactions", "scheduled_transactions",
			rest.Fields{"subtransactions": rest.Computed(undeletedParts)}),
		// YNAB has no id for a month.
		twice(changing("months", "months", rest.Fields{
			"id": rest.Joined("|", rest.FromPartition("id"), rest.From("month").Day())}), "data.months"),
		{Name: "month_categories", Collect: collectMonthCategories},
	},
}

var budgets = rest.ParentsOf("budgets", "id", nil, nil)

func refusal(id, message string) rest.ErrorRule {
	return rest.ErrorRule{Status: http.StatusForbidden, Member: "error.id", Values: []string{id},
		Class: connectorkit.Forbidden, Message: message}
}

// entityFields are the members that all rows of a budget share. Amounts are thousandths of the currency.
func entityFields(more rest.Fields) rest.Fields {
	f := rest.Fields{"budget_id": rest.FromPartition("id"), "deleted": rest.From("deleted").OrElse("false")}
	maps.Copy(f, more)
	return f
}

// changing is a collection that reports changes and deletions since a knowledge number. Each stream keeps its own
// number, because the number of another stream does not apply.
func changing(stream, collection string, fields rest.Fields) rest.Stream {
	return rest.Stream{Name: stream, Request: rest.Request{Path: "{plans}/{id}/" + collection},
		Items: "data." + collection, Partitions: budgets, Fields: entityFields(fields), Deleted: rest.Match{Path: "deleted"},
		Sync: rest.ChangeFeed{Param: "last_knowledge_of_server", Member: "data.server_knowledge", Numbered: true,
			Bookmark: "budgets"}}
}

// twice is a collection that two streams are made of. In an answer about changes a group holds only the changed
// categories, so absence means nothing.
func twice(s rest.Stream, items string) rest.Stream {
	s.Items, s.Reused = items, true
	return s
}

// listed is a collection without changes: each page is the whole collection of one budget.
func listed(collection string) rest.Stream {
	return rest.Stream{Name: collection, Request: rest.Request{Path: "{plans}/{id}/" + collection},
		Items: "data." + collection, Partitions: budgets, Fields: entityFields(nil), Deleted: rest.Match{Path: "deleted"}}
}

// transactions are all, however old: YNAB answers with one year otherwise, as it did for an earlier version.
func transactions() rest.Stream {
	const earliestDate = "1970-01-01"
	s := changing("transactions", "transactions", rest.Fields{
		"subtransactions": rest.Computed(undeletedParts),
		"is_split": rest.Computed(func(i rest.Item) (jsontext.Value, error) {
			parts, err := undeletedParts(i)
			if string(parts) == "[]" {
				return jsontext.Value("false"), err
			}
			return jsontext.Value("true"), err
		}),
	})
	s.Query = url.Values{"since_date": {earliestDate}}
	feed := s.Sync.(rest.ChangeFeed)
	feed.Reach = earliestDate
	s.Sync = feed
	return s
}

// undeletedParts are the parts of a transaction that are not deleted.
func undeletedParts(item rest.Item) (jsontext.Value, error) {
	var wire struct {
		Parts []jsontext.Value `json:"subtransactions"`
	}
	if err := json.Unmarshal(item.Raw, &wire); err != nil {
		return nil, err
	}
	out := []jsontext.Value{}
	for _, raw := range wire.Parts {
		var part struct {
			Deleted bool `json:"deleted"`
		}
		if json.Unmarshal(raw, &part) != nil || !part.Deleted {
			out = append(out, raw)
		}
	}
	return json.Marshal(out)
}
