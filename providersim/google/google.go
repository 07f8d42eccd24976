package google

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/rest"
)

type jsonObject = rest.Object

// Scopes of a token.
const (
	ScopeCalendar = "https://www.googleapis.com/auth/calendar.readonly"
	ScopeContacts = "https://www.googleapis.com/auth/contacts.readonly"
	ScopeOthers   = "https://www.googleapis.com/auth/contacts.other.readonly"
)

// What the app of the tests is registered as.
const (
	ClientID     = "7-lamp.apps.googleusercontent.com"
	ClientSecret = "GOCSPX-secret-of-the-app"
)

// Config sets what the simulated account holds and how strict its provider is. An account without calendars has only
// contacts, and the other way round.
type Config struct {
	Seed              uint64
	Calendars, Events int // Events of each calendar, of which every fourth is a series
	People, Others    int // Others were never saved as contacts
	Groups            int
	MaxPage           int // largest page; zero is Google's own (2,500 events, 1,000 people)
	Rate              int // requests that a person may make in a minute; zero is no limit

	// Testing marks an unpublished app. Withheld is a scope that the person unticks.
	Testing  bool
	Withheld string

	Token             string           // the first access token; empty means one derived from Seed
	Now               func() time.Time // clock of limits and of the Date header; nil means the wall clock
	Addr, ControlAddr string           // loopback addresses of [Start]; empty means a free port
}

// Google is one simulated account. It is safe for concurrent use.
type Google struct {
	*rest.Service
	cfg  Config
	off  bool   // the APIs are not switched on in the project
	mail string // of the person
}

// New returns an account generated from cfg.
func New(cfg Config) *Google {
	g := &Google{cfg: cfg, mail: "alba.lindqvist@example.com"}
	g.Service = rest.New(rest.Options{Seed: cfg.Seed, Token: cmp.Or(cfg.Token, fmt.Sprintf("ya29.%016x", cfg.Seed)),
		Scopes: []string{ScopeCalendar, ScopeContacts, ScopeOthers}, Now: cfg.Now,
		Clock: time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC), Errors: renderError, Guard: g.guard,
		Limit: rest.Limit{Rate: cfg.Rate, Window: time.Minute},
		Truth: func(add rest.AddTruth) { g.calendarTruth(add); g.peopleTruth(add) }})
	g.Operations = g.calendarOperations()
	maps.Copy(g.Operations, g.peopleOperations())
	g.Settings = map[string]func(int){
		"forget_tokens": func(int) { g.Epoch++ },          // those of pages, too
		"allow":         func(n int) { g.Limit.Rate = n }, // requests in a minute
		"switch_off":    func(n int) { g.off = n > 1 },    // 2: the APIs are not switched on in the project, 1: they are
		"other_account": func(int) { g.becomeAnother() },  // another person signs in
	}
	consent := rest.Consent{Authorize: "GET /o/oauth2/v2/auth", Exchange: "POST /token", ClientID: ClientID,
		ClientSecret: ClientSecret, Withheld: cfg.Withheld, Expires: 3599 * time.Second, Scopes: true,
		Refuse: func(problem string) rest.Answer {
			status := map[string]int{"invalid_client": http.StatusUnauthorized}[problem]
			return rest.Answer{Status: cmp.Or(status, 400), Body: jsonObject{"error": problem}}
		}}
	if cfg.Testing {
		consent.Lasts = 7 * 24 * time.Hour
	}
	g.HandleConsent(consent)
	g.handleRoutes()
	g.generateAccount()
	return g
}

func (g *Google) generateAccount() {
	for range g.cfg.Calendars {
		g.addCalendar()
	}
	for range g.cfg.Groups {
		g.addGroup()
	}
	for range g.cfg.People {
		g.addPerson()
	}
	for range g.cfg.Others {
		g.addOtherContact()
	}
}

// becomeAnother replaces the account by another person's, with other calendars and contacts.
func (g *Google) becomeAnother() {
	clear(g.Rows)
	g.mail = "bo.second@example.com"
	g.Epoch++
	g.generateAccount()
}

// knownParameters are those of each route, by its last part.
var knownParameters = map[string]string{
	"calendarList": "maxResults pageToken showHidden", "events": "maxResults pageToken syncToken",
	"me": "personFields", "connections": "personFields pageSize pageToken requestSyncToken syncToken",
	"otherContacts": "readMask pageSize pageToken requestSyncToken syncToken",
	"contactGroups": "groupFields pageSize pageToken",
}

func (g *Google) guard(r *http.Request) rest.Answer {
	if g.off && isCalendar(r) {
		return calendarError(403, "usageLimits", "accessNotConfigured",
			"Google Calendar API has not been used in project 7 before or it is disabled.")
	}
	if g.off {
		return peopleError(403, "PERMISSION_DENIED", "SERVICE_DISABLED",
			"People API has not been used in project 7 before or it is disabled.")
	}
	known := strings.Fields(knownParameters[r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]])
	for name := range r.URL.Query() {
		if !slices.Contains(known, name) {
			return calendarError(400, "global", "invalidParameter", "Unknown name "+name)
		}
	}
	return rest.Answer{}
}

func isCalendar(r *http.Request) bool { return r == nil || strings.HasPrefix(r.URL.Path, "/calendar/") }

// calendarError is an error of the Calendar API.
func calendarError(status int, domain, reason, message string) rest.Answer {
	return rest.Answer{Status: status, Body: jsonObject{"error": jsonObject{"errors": []jsonObject{{"domain": domain,
		"reason": reason, "message": message}}, "code": status, "message": message}}}
}

// peopleError is an error of the People API.
func peopleError(status int, word, reason, message string) rest.Answer {
	e := jsonObject{"code": status, "message": message, "status": word}
	if reason != "" {
		e["details"] = []jsonObject{{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason,
			"domain": "googleapis.com"}}
	}
	return rest.Answer{Status: status, Body: jsonObject{"error": e}}
}

// renderError renders a refusal by the API of its request. A limit of the Calendar API is 403 and 429 in turn.
func renderError(f rest.Refusal) rest.Answer {
	status := f.Status()
	if !isCalendar(f.Request) {
		switch f.Problem {
		case rest.NoScope:
			return peopleError(403, "PERMISSION_DENIED", "ACCESS_TOKEN_SCOPE_INSUFFICIENT",
				"Request had insufficient authentication scopes.")
		case rest.RateLimited:
			return peopleError(429, "RESOURCE_EXHAUSTED", []string{"", "RATE_LIMIT_EXCEEDED"}[f.Nth%2], "Quota exceeded")
		case rest.BadParameter:
			return peopleError(400, "INVALID_ARGUMENT", "", "Invalid "+f.Name)
		case rest.CursorEnded:
			return peopleError(400, "FAILED_PRECONDITION", "EXPIRED_SYNC_TOKEN",
				"Sync token is expired. Clear local cache and retry call without the sync token.")
		case rest.NoRoute, rest.NotFound:
			return peopleError(404, "NOT_FOUND", "", "Not found")
		}
		return peopleError(status, "UNAUTHENTICATED", "", "Request had invalid authentication credentials.")
	}
	switch f.Problem {
	case rest.RateLimited:
		return calendarError([]int{429, 403}[f.Nth%2], "usageLimits", "rateLimitExceeded", "Rate Limit Exceeded")
	case rest.NoScope:
		return calendarError(status, "global", "insufficientPermissions", "Insufficient Permission")
	case rest.BadParameter:
		return calendarError(status, "global", "invalid", "Invalid value for "+f.Name)
	case rest.CursorEnded:
		return calendarError(status, "calendar", "fullSyncRequired",
			"Sync token is no longer valid, a full sync is required.")
	case rest.NoRoute, rest.NotFound:
		return calendarError(status, "global", "notFound", "Not Found")
	case rest.Internal, rest.Unavailable:
		return calendarError(status, "global", "backendError", "Backend Error")
	}
	return calendarError(status, "global", "authError", "Invalid Credentials")
}

func (g *Google) handleRoutes() {
	const calendars = "GET /calendar/v3/calendars/{calendar}"
	g.Handle("GET /calendar/v3/users/me/calendarList", ScopeCalendar, g.serveCalendars)
	g.Handle("GET /calendar/v3/users/me/calendarList/{calendar}", ScopeCalendar, g.onCalendar(g.renderEntry))
	g.Handle(calendars, ScopeCalendar, g.onCalendar(func(c *rest.Row) jsonObject {
		return jsonObject{"kind": "calendar#calendar", "etag": `"5"`, "id": c.ID, "summary": c.Data["summary"],
			"timeZone": c.Data["timeZone"]}
	}))
	g.Handle(calendars+"/events", ScopeCalendar, g.serveEvents)
	g.Handle("GET /v1/people/me", ScopeContacts, func(r *http.Request) rest.Answer {
		if r.URL.Query().Get("personFields") == "" {
			return g.Refuse(r, rest.BadParameter, "personFields")
		}
		return rest.OK(jsonObject{"resourceName": "people/1090" + fmt.Sprint(len(g.mail)), "etag": "%Eg"})
	})
	g.Handle("GET /v1/people/me/connections", ScopeContacts, func(r *http.Request) rest.Answer {
		return g.servePeople(r, "personFields", "connections", StreamContacts, "totalPeople", "totalItems")
	})
	g.Handle("GET /v1/otherContacts", ScopeOthers, func(r *http.Request) rest.Answer {
		return g.servePeople(r, "readMask", "otherContacts", StreamOthers, "totalSize")
	})
	g.Handle("GET /v1/contactGroups", ScopeContacts, func(r *http.Request) rest.Answer {
		return g.serveRows(r, rest.Pager{Size: "pageSize", Most: 1000, Items: "contactGroups"}, StreamGroups, nil,
			g.renderGroup, "totalItems")
	})
}

// serveRows answers one page of a list. With a sync token it returns changes. Totals are members with the number of
// things in the list.
func (g *Google) serveRows(r *http.Request, p rest.Pager, collection string, keep func(*rest.Row) bool,
	show func(*rest.Row) jsonObject, totals ...string) rest.Answer {
	q := r.URL.Query()
	p.Style, p.Place, p.Next, p.Omit, p.Usual, p.Cap = rest.Token, "pageToken", "nextPageToken", true, p.Most/10,
		g.cfg.MaxPage
	p.Extend = func(_ *http.Request, _ rest.Page, body jsonObject) {
		for _, name := range totals {
			body[name] = len(g.Live(collection))
		}
	}
	return rest.Serve(g.Service, r, p, rest.List[*rest.Row]{All: g.Rows[collection], Show: show,
		Of:  collection + q.Get("personFields") + q.Get("readMask"),
		Seq: func(x *rest.Row) int { return x.Seq },
		Keep: func(x *rest.Row) bool {
			if q.Get("syncToken") != "" { // an occurrence of a deleted series is reported as cancelled, or not at all
				return x.Parent == nil || !x.Parent.Gone || x.Data["void"] == true
			}
			return !x.Gone && (keep == nil || keep(x))
		}})
}

// Server is a running account.
type Server = providersim.Running[*Google]

// Start serves a new account and its control port on loopback.
func Start(cfg Config) (*Server, error) {
	return providersim.Start("google", New(cfg), cfg.Addr, cfg.ControlAddr)
}
