package ynab

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/rest"
)

// Config sets what the simulated account holds and how strict its provider is.
type Config struct {
	Seed                                 uint64
	Budgets                              int
	Accounts, Categories, Payees, Months int // of each budget
	Transactions                         int // of each budget
	Rate                                 int // requests that a token may make in any hour; zero is no limit

	Token             string           // the first token; empty means one derived from Seed
	Now               func() time.Time // clock of the data, the limit and the Date header; nil means the wall clock
	Addr, ControlAddr string           // loopback addresses of [Start]; empty means a free port
}

// YNAB is one simulated account. It is safe for concurrent use.
type YNAB struct {
	*rest.Service
	cfg     Config
	budgets []*budget
	samples map[string]jsonObject // balances by account and day, as the first whole answer of a day had them
	lapsed  bool
}

// New returns an account generated from cfg.
func New(cfg Config) *YNAB {
	y := &YNAB{cfg: cfg, samples: map[string]jsonObject{}}
	y.Service = rest.New(rest.Options{Seed: cfg.Seed, Token: cmp.Or(cfg.Token, fmt.Sprintf("ynab-%016x", cfg.Seed)),
		Now: cfg.Now, Limit: rest.Limit{Rate: cfg.Rate, Window: time.Hour}, Truth: y.truth,
		Errors: func(f rest.Refusal) rest.Answer {
			e := errorNames[f.Problem]
			return apiError(cmp.Or(f.Status(), 500), e[0], e[1], cmp.Or(f.Name, e[2]))
		},
		Guard: func(*http.Request) (a rest.Answer) {
			if y.lapsed {
				a = apiError(403, "403.1", "subscription_lapsed", "The subscription for this account has lapsed")
			}
			return a
		}})
	y.Operations, y.Settings = y.operations(), map[string]func(int){"allow": func(n int) { y.Limit.Rate = n }}
	y.Handle("GET /v1/user", "", func(*http.Request) rest.Answer {
		return dataAnswer(jsonObject{"user": jsonObject{"id": "person-3107"}})
	})
	for list, standard := range map[string]string{"plans": "default_plan", "budgets": "default_budget"} {
		y.Handle("GET /v1/"+list, "", func(*http.Request) rest.Answer {
			return dataAnswer(jsonObject{list: rest.Show(y.liveBudgets(), (*budget).toJSON), standard: nil})
		})
		y.Handle("GET /v1/"+list+"/{budget}/{collection}", "", y.serveCollection)
		y.Handle("GET /v1/"+list+"/{budget}/months/{month}", "", y.serveMonth)
	}
	for range cfg.Budgets {
		y.generateBudget()
	}
	return y
}

var errorNames = map[rest.Problem][3]string{
	rest.RateLimited:  {"429", "too_many_requests", "Too many requests"},
	rest.Unavailable:  {"503", "service_unavailable", "Service unavailable"},
	rest.Internal:     {"500", "internal_server_error", "An internal error occurred"},
	rest.ExpiredToken: {"401", "unauthorized", "Unauthorized"},
	rest.NoToken:      {"401", "unauthorized", "Unauthorized"},
	rest.BadToken:     {"401", "unauthorized", "Unauthorized"},
	rest.NoRoute:      {"404.1", "not_found", "Not found"},
	rest.NotFound:     {"404.2", "resource_not_found", "Resource not found"},
	rest.BadParameter: {"400", "bad_request", ""},
}

func apiError(status int, id, name, detail string) rest.Answer {
	return rest.Answer{Status: status, Body: jsonObject{"error": jsonObject{"id": id, "name": name, "detail": detail}}}
}

func dataAnswer(value jsonObject) rest.Answer { return rest.OK(jsonObject{"data": value}) }

func (y *YNAB) liveBudgets() []*budget {
	return rest.Filter(y.budgets, func(b *budget) bool { return !b.gone })
}

func (y *YNAB) findBudget(r *http.Request) *budget {
	for _, b := range y.liveBudgets() {
		if b.id == r.PathValue("budget") {
			return b
		}
	}
	return nil
}

func (y *YNAB) serveCollection(r *http.Request) rest.Answer {
	b, collection, q := y.findBudget(r), r.PathValue("collection"), r.URL.Query()
	if b == nil {
		return y.Refuse(r, rest.NotFound, "")
	}
	since, right := rest.NumberParameter(q, "last_knowledge_of_server", 0)
	if !right {
		return y.Refuse(r, rest.BadParameter, "last_knowledge_of_server is not a number")
	}
	out := jsonObject{"server_knowledge": b.Seq}
	changed := func(t *rest.Row) bool { return t.ChangedSince(since) }
	rows := rest.Show(rest.Filter(b.Rows[collection], changed), toJSON)
	switch collection {
	case collectionAccounts:
		if since == 0 {
			y.sampleBalances(b)
		}
	case collectionTransactions: // without since_date those of the last year
		earliest := y.Now().UTC().AddDate(-1, 0, 0).Format(time.DateOnly)
		if q.Has("since_date") {
			earliest = q.Get("since_date")
			if _, err := time.Parse(time.DateOnly, earliest); err != nil {
				return y.Refuse(r, rest.BadParameter, "since_date is not a date")
			}
		}
		rows = slices.DeleteFunc(rows, func(o jsonObject) bool { return o["date"].(string) < earliest })
	case collectionPayees, collectionScheduled:
	case collectionMonths:
		for _, row := range rows {
			delete(row, "id") // a month has none
		}
	case collectionCategories:
		collection, rows = collectionGroups, b.changedGroups(changed)
	case collectionLocations, collectionMovements, movementGroups:
		rows = rest.Show(b.Live(collection), toJSON)
		if collection == collectionLocations {
			delete(out, "server_knowledge")
			break
		}
		for _, row := range rows {
			delete(row, "deleted") // the published description has no such member
		}
	default:
		return y.Refuse(r, rest.NoRoute, "")
	}
	out[collection] = rows
	return dataAnswer(out)
}

// changedGroups are the groups that changed or that hold what changed.
func (b *budget) changedGroups(changed func(*rest.Row) bool) []jsonObject {
	out := []jsonObject{}
	for _, g := range b.Rows[collectionGroups] {
		o := toJSON(g)
		within := rest.Show(rest.Filter(b.Rows[collectionCategories], func(c *rest.Row) bool {
			return c.Data["category_group_id"] == g.ID && changed(c)
		}), toJSON)
		if o["categories"] = within; changed(g) || len(within) > 0 {
			out = append(out, o)
		}
	}
	return out
}

func (y *YNAB) serveMonth(r *http.Request) rest.Answer {
	b := y.findBudget(r)
	if b == nil {
		return y.Refuse(r, rest.NotFound, "")
	}
	for i, m := range b.Rows[collectionMonths] {
		if m.Data["month"] != r.PathValue("month") {
			continue
		}
		o := toJSON(m)
		delete(o, "id")
		o[collectionCategories] = rest.Show(rest.Filter(b.Rows[collectionCategories],
			func(c *rest.Row) bool { return !c.Gone || i%2 == 0 }),
			func(c *rest.Row) jsonObject { return b.categoryInMonth(m, c) })
		return dataAnswer(jsonObject{"month": o})
	}
	return y.Refuse(r, rest.NotFound, "")
}

// sampleBalances notes the balances that the first whole answer of a day has.
func (y *YNAB) sampleBalances(b *budget) {
	day := y.Now().UTC().Format(time.DateOnly)
	for _, t := range b.Live(collectionAccounts) {
		if key := t.ID + ":" + day; b.sampled != day {
			y.samples[key] = jsonObject{"id": key, "account_id": t.ID, "budget_id": b.id, "observed_on": day,
				"balance": t.Data["balance"], "cleared_balance": t.Data["cleared_balance"],
				"uncleared_balance": t.Data["uncleared_balance"]}
		}
	}
	b.sampled = day
}

// Server is a running account.
type Server = providersim.Running[*YNAB]

// Start serves a new account and its control port on loopback.
func Start(cfg Config) (*Server, error) {
	return providersim.Start("ynab", New(cfg), cfg.Addr, cfg.ControlAddr)
}
