package oura

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/rest"
)

// Scopes of a token.
const (
	ScopePersonal = "personal"
	ScopeDaily    = "daily"
)

// Config sets what the simulated account holds.
type Config struct {
	Seed uint64
	Days int // of data, up to today
	Page int // documents in a page (50)

	Token             string           // the first access token; empty means one derived from Seed
	Now               func() time.Time // clock of the data and of the Date header; nil means the wall clock
	Addr, ControlAddr string           // loopback addresses of [Start]; empty means a free port
}

// Oura is one simulated account. It is safe for concurrent use.
type Oura struct {
	*rest.Service
	outdated bool
}

// New returns an account generated from cfg.
func New(cfg Config) *Oura {
	o := &Oura{}
	o.Service = rest.New(rest.Options{Seed: cfg.Seed, Token: cmp.Or(cfg.Token, fmt.Sprintf("oura%016x", cfg.Seed)),
		Scopes: []string{ScopePersonal, ScopeDaily}, Now: cfg.Now, Errors: renderError, Guard: o.guard,
		Truth: o.truth})
	o.Operations = o.operations()
	o.Handle("GET /v2/usercollection/personal_info", ScopePersonal,
		func(*http.Request) rest.Answer { return rest.OK(personalInfo) })
	pager := rest.Pager{Style: rest.Token, Place: "next_token", Usual: cmp.Or(cfg.Page, 50), Items: "data",
		Next: "next_token"}
	o.Handle("GET /v2/usercollection/{collection}", ScopeDaily,
		func(r *http.Request) rest.Answer { return o.serveList(r, pager) })
	for ago := cfg.Days - 1; ago >= 0; ago-- {
		o.addDay(o.today().AddDate(0, 0, -ago))
	}
	return o
}

// changeWindow is for how long Oura still changes documents.
const changeWindow = 10

// operations are the mutations of the control port; they change the last days.
func (o *Oura) operations() map[string]func() string {
	changeRecent := func(collection string, edit func(*rest.Row)) func() string {
		return o.EditRow(collection, func(d *rest.Row) bool {
			return d.Data["type"] != "deleted" && d.At.After(o.today().AddDate(0, 0, -changeWindow))
		}, edit)
	}
	revise := func(*rest.Row) {} // the version of a document is part of its scores
	return map[string]func() string{
		// The ring was read late.
		"sync_late": func() string {
			return o.addDocument("sleep", o.today().AddDate(0, 0, -o.Random.IntN(changeWindow))).ID
		},
		"rescore": changeRecent("daily_readiness", revise), "recount": changeRecent("daily_activity", revise),
		"stress": changeRecent("daily_stress", revise),
		// A night is analysed again: a document with another id replaces it.
		"reanalyse": changeRecent("sleep", func(d *rest.Row) { d.Gone = true; o.addDocument("sleep", d.At).Version = 3 }),
		// The person ends a rest mode, which began long before.
		"end_rest": o.EditRow("rest_mode_period", func(d *rest.Row) bool {
			return d.Version == 0 && d.At.After(o.today().AddDate(0, 0, -90))
		}, revise),
		"discard":  changeRecent("sleep", func(d *rest.Row) { d.Data["type"] = "deleted" }),
		"outdated": func() string { o.outdated = true; return "" },
	}
}

// today is the day that it is.
func (o *Oura) today() time.Time { return o.Now().UTC().Truncate(24 * time.Hour) }

func (o *Oura) guard(r *http.Request) rest.Answer {
	switch {
	case r.Header.Get("User-Agent") == "":
		return problemDocument(400, "User-Agent is missing.")
	case o.outdated:
		return problemDocument(426, "The minimum mobile app version for this user has not been met; update required")
	}
	return rest.Answer{}
}

func problemDocument(status int, detail string) rest.Answer {
	return rest.Answer{Status: status, Body: rest.Object{"status": status, "title": http.StatusText(status),
		"detail": detail}}
}

func renderError(f rest.Refusal) rest.Answer {
	return problemDocument(f.Status(), map[rest.Problem]string{rest.RateLimited: "Request Rate Limit Exceeded.",
		rest.NoScope: "The token has not the scope.", rest.BadToken: "Access token not provided or is invalid.",
		rest.ExpiredToken: "Access token not provided or is invalid.", rest.NoRoute: "Not found.",
		rest.NotFound: "Not found.", rest.BadParameter: "The next_token does not belong to these dates."}[f.Problem])
}

func dayParameter(q url.Values, name string, standard time.Time) (time.Time, bool) {
	if !q.Has(name) {
		return standard, true
	}
	t, err := time.Parse(time.DateOnly, q.Get(name))
	return t, err == nil
}

func (o *Oura) serveList(r *http.Request, pager rest.Pager) rest.Answer {
	q, collection := r.URL.Query(), r.PathValue("collection")
	if collectionStreams[collection] == "" {
		return o.Refuse(r, rest.NotFound, "")
	}
	end, ends := dayParameter(q, "end_date", o.today())
	start, starts := dayParameter(q, "start_date", end.AddDate(0, 0, -1))
	if !starts || !ends || start.After(end) || end.Sub(start) > 366*24*time.Hour {
		return rest.Answer{Status: 422, Body: rest.Object{"detail": []rest.Object{{"loc": []string{"query", "start_date"},
			"msg": "invalid dates", "type": "value_error"}}}}
	}
	return rest.ListRows(o.Service, r, pager, rest.SortByTime(o.Rows[collection], true), func(d *rest.Row) bool {
		// A day without a time is its midnight.
		last := d.At.Before(end) || collection == "daily_readiness" && d.At.Equal(end)
		return !d.At.Before(start) && last
	}, func(d *rest.Row) rest.Object { return renderDocument(collection, d) })
}

// Server is a running account.
type Server = providersim.Running[*Oura]

// Start serves a new account and its control port on loopback.
func Start(cfg Config) (*Server, error) {
	return providersim.Start("oura", New(cfg), cfg.Addr, cfg.ControlAddr)
}
