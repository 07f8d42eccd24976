package strava

import (
	"cmp"
	"fmt"
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/rest"
)

// Scopes of a token.
const (
	ScopeRead = "read"
	ScopeSeen = "activity:read"
	ScopeAll  = "activity:read_all"
)

// What the app of the tests is registered as.
const (
	ClientID     = "41200"
	ClientSecret = "secret-of-the-strava-app"
)

// StreamActivities is the stream of the ground truth.
const StreamActivities = "activities"

// Config sets what the simulated account holds and how strict its provider is.
type Config struct {
	Seed       uint64
	Activities int
	MaxPage    int // largest page (200)
	// Ghosts hides every n-th activity, which its page still counts; zero hides none.
	Ghosts int
	// Quarter and Day are the reads of the app; zero is Strava's 100 and 1,000.
	Quarter, Day int
	// Withheld is a scope that the person unticks.
	Withheld string

	Token             string           // the first access token; empty means one derived from Seed
	Now               func() time.Time // clock of limits and of the Date header; nil means the wall clock
	Addr, ControlAddr string           // loopback addresses of [Start]; empty means a free port
}

// Strava is one simulated account. It is safe for concurrent use.
type Strava struct {
	*rest.Service
	cfg              Config
	quarter, day     int // reads of the app in the running windows
	quarterOf, dayOf time.Time
}

// New returns an account generated from cfg.
func New(cfg Config) *Strava {
	cfg.MaxPage, cfg.Quarter, cfg.Day = cmp.Or(cfg.MaxPage, 200), cmp.Or(cfg.Quarter, 100), cmp.Or(cfg.Day, 1000)
	s := &Strava{cfg: cfg}
	activities := &rest.Collection{Stream: StreamActivities, Count: cfg.Activities, New: s.newActivity}
	s.Service = rest.New(rest.Options{Seed: cfg.Seed, Token: cmp.Or(cfg.Token, fmt.Sprintf("%032x", cfg.Seed)),
		Scopes: []string{ScopeRead, ScopeSeen, ScopeAll}, Now: cfg.Now,
		Clock: time.Date(2025, 6, 1, 6, 0, 0, 0, time.UTC), Errors: renderError, Quota: s.spendQuota})
	change := func(edit func(*rest.Row)) func() string { return s.EditRow(StreamActivities, nil, edit) }
	s.Operations = map[string]func() string{
		"record": func() string { return s.AddTo(activities).ID },
		// A watch that was synchronised late: the activity began long ago.
		"upload_late": func() string { return s.AddLate(activities).ID },
		"rename":      change(func(a *rest.Row) { a.Data["name"] = a.Data["name"].(string) + " (renamed)" }),
		"crop":        change(func(a *rest.Row) { setStart(a, a.At.Add(90*time.Second)) }),
		"kudos":       change(func(a *rest.Row) { a.Data["kudos_count"] = a.Data["kudos_count"].(int) + 1 }),
		"delete":      change(func(a *rest.Row) { a.Gone = true }),
	}
	s.HandleConsent(rest.Consent{Authorize: "GET /oauth/authorize", Exchange: "POST /oauth/token", ClientID: ClientID,
		ClientSecret: ClientSecret, Separator: ",", Withheld: cfg.Withheld, Once: true, Expires: 6 * time.Hour,
		Members: rest.Object{"athlete": rest.Object{"id": ownUserID}}, Refuse: refuseSignIn})
	s.Handle("GET /api/v3/athlete", "", func(*http.Request) rest.Answer {
		return rest.OK(rest.Object{"id": ownUserID, "username": "ottilie_b", "firstname": "Ottilie", "lastname": "B",
			"measurement_preference": "meters", "resource_state": 2})
	})
	s.Handle("GET /api/v3/athlete/activities", ScopeSeen, s.serveActivities)
	s.Open(activities)
	return s
}

func (s *Strava) serveActivities(r *http.Request) rest.Answer {
	q := r.URL.Query()
	after, from := rest.NumberParameter(q, "after", 0)
	before, to := rest.NumberParameter(q, "before", 1<<40)
	if !from || !to {
		return s.Refuse(r, rest.BadParameter, "after")
	}
	everything, ascending := s.HasScope(r, ScopeAll), q.Has("after") && !q.Has("before")
	return rest.Serve(s.Service, r, rest.Pager{Style: rest.Number, Place: "page", Size: "per_page", Usual: 30, Most: 200,
		Exact: true, Cap: s.cfg.MaxPage}, rest.List[*rest.Row]{All: rest.SortByTime(s.Live(StreamActivities), ascending),
		Keep:   func(a *rest.Row) bool { at := int(a.At.Unix()); return at > after && at < before },
		Hidden: func(a *rest.Row) bool { return a.Ghost || !everything && a.Data["private"] == true },
		Show:   func(a *rest.Row) rest.Object { return a.Data }})
}

// spendQuota counts a read, refused or not, and reports whether it is within the limits of the windows.
func (s *Strava) spendQuota(h http.Header) bool {
	now := s.Now().UTC()
	if at := now.Truncate(15 * time.Minute); !at.Equal(s.quarterOf) {
		s.quarter, s.quarterOf = 0, at
	}
	if at := now.Truncate(24 * time.Hour); !at.Equal(s.dayOf) {
		s.day, s.dayOf = 0, at
	}
	s.quarter++
	s.day++
	for i, name := range []string{"X-ReadRateLimit", "X-RateLimit"} {
		h.Set(name+"-Limit", fmt.Sprintf("%d,%d", (i+1)*s.cfg.Quarter, (i+1)*s.cfg.Day))
		h.Set(name+"-Usage", fmt.Sprintf("%d,%d", s.quarter, s.day))
	}
	return s.quarter <= s.cfg.Quarter && s.day <= s.cfg.Day
}

// fault is an error in Strava's envelope.
func fault(status int, message, resource, field, code string) rest.Answer {
	return rest.Answer{Status: status, Body: rest.Object{"message": message,
		"errors": []rest.Object{{"resource": resource, "field": field, "code": code}}}}
}

func renderError(f rest.Refusal) rest.Answer {
	switch f.Problem {
	case rest.RateLimited:
		return fault(429, "Rate Limit Exceeded", "Application", "rate limit", "exceeded")
	case rest.NoScope:
		return fault(401, "Authorization Error", "Athlete", "activity:read_permission", "missing")
	case rest.NoToken, rest.BadToken, rest.ExpiredToken:
		return fault(401, "Authorization Error", "Athlete", "access_token", "invalid")
	case rest.BadParameter:
		return fault(400, "Bad Request", "Activity", f.Name, "invalid")
	case rest.NoRoute:
		return fault(404, "Record Not Found", "resource", "path", "invalid")
	}
	return rest.Answer{Status: f.Status(), Body: rest.Object{"message": "error", "errors": []rest.Object{}}}
}

func refuseSignIn(problem string) rest.Answer {
	switch problem {
	case "invalid_client":
		return fault(401, "Authorization Error", "Application", "client_secret", "invalid")
	case "invalid_grant":
		return fault(400, "Bad Request", "RefreshToken", "refresh_token", "invalid")
	}
	return fault(400, "Bad Request", "Application", problem, "invalid")
}

// Server is a running account.
type Server = providersim.Running[*Strava]

// Start serves a new account and its control port on loopback.
func Start(cfg Config) (*Server, error) {
	return providersim.Start("strava", New(cfg), cfg.Addr, cfg.ControlAddr)
}
