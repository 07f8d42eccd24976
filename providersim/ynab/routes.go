package ynab

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
)

type answer struct {
	status int
	value  any
}

func refuse(status int, id, name, detail string) answer {
	return answer{status, object{"error": object{"id": id, "name": name, "detail": detail}}}
}

// faultBody is how YNAB words what a fault of the gate makes it say.
func faultBody(code string) []byte {
	a := refuse(500, "500", "internal_server_error", "An internal error occurred")
	switch code {
	case "rate_limited":
		a = refuse(429, "429", "too_many_requests", "Too many requests")
	case "token_expired":
		a = refuse(401, "401", "unauthorized", "Unauthorized")
	case "unavailable":
		a = refuse(503, "503", "service_unavailable", "Service unavailable")
	}
	return providersim.EncodeJSON(a.value)
}

func missing() answer { return refuse(404, "404.2", "resource_not_found", "Resource not found") }

func (y *YNAB) routes() *http.ServeMux {
	mux := http.NewServeMux()
	on := func(pattern string, serve func(*http.Request) answer) {
		mux.HandleFunc("GET /v1/"+pattern, y.handle(serve))
	}
	on("user", func(*http.Request) answer { return data(object{"user": object{"id": "person-3107"}}) })
	for list, standard := range map[string]string{"plans": "default_plan", "budgets": "default_budget"} {
		on(list, func(*http.Request) answer {
			rows := []object{}
			for _, b := range y.budgets {
				if !b.gone {
					rows = append(rows, b.object(y))
				}
			}
			return data(object{list: rows, standard: nil})
		})
		on(list+"/{budget}/{collection}", y.serve)
		on(list+"/{budget}/months/{month}", y.serveMonth)
	}
	mux.HandleFunc("/", y.handle(func(*http.Request) answer { return refuse(404, "404.1", "not_found", "Not found") }))
	return mux
}

func data(value object) answer { return answer{200, object{"data": value}} }

func (y *YNAB) handle(serve func(*http.Request) answer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		y.mu.Lock()
		defer y.mu.Unlock()
		var a answer
		switch {
		case y.Tokens.Check(r.Header.Get("Authorization"), "") != providersim.TokenActive:
			a = refuse(401, "401", "unauthorized", "Unauthorized")
		case !y.spend():
			a = refuse(429, "429", "too_many_requests", "Too many requests")
		case y.lapsed:
			a = refuse(403, "403.1", "subscription_lapsed", "The subscription for this account has lapsed")
		default:
			a = serve(r)
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(a.status)
		_, _ = w.Write(providersim.EncodeJSON(a.value))
	}
}

// spend counts a request of the hour.
func (y *YNAB) spend() bool {
	now := y.cfg.Now()
	y.asked = slices.DeleteFunc(y.asked, func(t time.Time) bool { return now.Sub(t) >= time.Hour })
	if y.cfg.Rate > 0 && len(y.asked) >= y.cfg.Rate {
		return false
	}
	y.asked = append(y.asked, now)
	return true
}

func (y *YNAB) find(r *http.Request) *budget {
	for _, b := range y.budgets {
		if b.id == r.PathValue("budget") && !b.gone {
			return b
		}
	}
	return nil
}

func (y *YNAB) serve(r *http.Request) answer {
	b, collection := y.find(r), r.PathValue("collection")
	if b == nil {
		return missing()
	}
	since := 0
	if q := r.URL.Query(); q.Has("last_knowledge_of_server") {
		n, err := strconv.Atoi(q.Get("last_knowledge_of_server"))
		if err != nil || n < 0 {
			return refuse(400, "400", "bad_request", "last_knowledge_of_server is not a number")
		}
		since = n
	}
	told := func(t *thing) bool { return t.at > since && (since > 0 || !t.gone) }
	pick := func(collection string) []object {
		out := []object{}
		for _, t := range b.all[collection] {
			if told(t) {
				out = append(out, t.object())
			}
		}
		return out
	}
	switch collection {
	case accounts:
		if since == 0 {
			y.sample(b)
		}
		return data(object{accounts: pick(accounts), "server_knowledge": b.knowledge})
	case trans:
		rows, ok := y.sinceDate(r, pick(trans))
		if !ok {
			return refuse(400, "400", "bad_request", "since_date is not a date")
		}
		return data(object{trans: rows, "server_knowledge": b.knowledge})
	case payees, scheduled:
		return data(object{collection: pick(collection), "server_knowledge": b.knowledge})
	case months:
		rows := pick(months)
		for _, row := range rows {
			delete(row, "id") // a month has none
		}
		return data(object{months: rows, "server_knowledge": b.knowledge})
	case cats:
		return data(object{groups: y.grouped(b, told), "server_knowledge": b.knowledge})
	case places, movements, movementGroups:
		rows := []object{}
		for _, t := range b.live(collection) {
			o := t.object()
			if collection != places {
				delete(o, "deleted") // the published description has no such member
			}
			rows = append(rows, o)
		}
		if collection == places {
			return data(object{places: rows})
		}
		return data(object{collection: rows, "server_knowledge": b.knowledge})
	}
	return refuse(404, "404.1", "not_found", "Not found")
}

// sinceDate returns the transactions on or after since_date, which is one year ago when the request does not name it.
func (y *YNAB) sinceDate(r *http.Request, rows []object) ([]object, bool) {
	earliest := y.cfg.Now().UTC().AddDate(-1, 0, 0).Format(time.DateOnly)
	if q := r.URL.Query(); q.Has("since_date") {
		earliest = q.Get("since_date")
		if _, err := time.Parse(time.DateOnly, earliest); err != nil {
			return nil, false
		}
	}
	return slices.DeleteFunc(rows, func(o object) bool { return o["date"].(string) < earliest }), true
}

// grouped are the groups that changed or that hold what changed.
func (y *YNAB) grouped(b *budget, told func(*thing) bool) []object {
	out := []object{}
	for _, g := range b.all[groups] {
		within := []object{}
		for _, c := range b.all[cats] {
			if c.data["category_group_id"] == g.id && told(c) {
				within = append(within, c.object())
			}
		}
		if told(g) || len(within) > 0 {
			o := g.object()
			o["categories"] = within
			out = append(out, o)
		}
	}
	return out
}

func (y *YNAB) serveMonth(r *http.Request) answer {
	b := y.find(r)
	if b == nil {
		return missing()
	}
	for i, m := range b.all[months] {
		if m.gone || m.data["month"] != r.PathValue("month") {
			continue
		}
		rows := []object{}
		for _, c := range b.all[cats] {
			if !c.gone || i%2 == 0 {
				rows = append(rows, b.inMonth(m, c))
			}
		}
		o := m.object()
		delete(o, "id")
		o[cats] = rows
		return data(object{"month": o})
	}
	return missing()
}

// sample notes the balances that the first whole answer of a day has.
func (y *YNAB) sample(b *budget) {
	day := y.cfg.Now().UTC().Format(time.DateOnly)
	if y.samples[day+b.id] != nil {
		return
	}
	at := map[string]object{}
	for _, t := range b.live(accounts) {
		at[t.id+":"+day] = object{"id": t.id + ":" + day, "account_id": t.id, "budget_id": b.id, "observed_on": day, "balance": t.data["balance"], "cleared_balance": t.data["cleared_balance"], "uncleared_balance": t.data["uncleared_balance"]}
	}
	y.samples[day+b.id] = at
}
