package strava

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
)

// answer is what an endpoint gives.
type answer struct {
	status int
	value  any
}

func ok(value any) answer { return answer{http.StatusOK, value} }

// refuse is an error in Strava's envelope.
func refuse(status int, message, resource, field, code string) answer {
	return answer{status, object{"message": message, "errors": []object{{"resource": resource, "field": field, "code": code}}}}
}

// faultBody is how Strava words what a fault of the gate makes it say.
func faultBody(code string) []byte {
	switch code {
	case "rate_limited":
		return providersim.EncodeJSON(exceeded().value)
	case "token_expired":
		return providersim.EncodeJSON(refuse(401, "Authorization Error", "Athlete", "access_token", "invalid").value)
	}
	return providersim.EncodeJSON(object{"message": "error", "errors": []object{}})
}

func exceeded() answer {
	return refuse(http.StatusTooManyRequests, "Rate Limit Exceeded", "Application", "rate limit", "exceeded")
}

func (s *Strava) routes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /oauth/authorize", s.authorize)
	mux.HandleFunc("POST /oauth/token", s.token)
	mux.HandleFunc("GET /api/v3/athlete", s.handle("", func(*http.Request) answer {
		return ok(object{"id": ownID, "username": "ottilie_b", "firstname": "Ottilie", "lastname": "B", "measurement_preference": "meters", "resource_state": 2})
	}))
	mux.HandleFunc("GET /api/v3/athlete/activities", s.handle(ScopeSeen, s.list))
	mux.HandleFunc("/", s.handle("", func(*http.Request) answer {
		return refuse(http.StatusNotFound, "Record Not Found", "resource", "path", "invalid")
	}))
	return mux
}

func (s *Strava) handle(scope string, serve func(*http.Request) answer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		var a answer
		switch s.Tokens.Check(r.Header.Get("Authorization"), scope) {
		case providersim.TokenActive:
			if a = exceeded(); s.spend() {
				a = serve(r)
			}
			s.announce(w.Header())
		case providersim.TokenUnderScoped:
			a = refuse(http.StatusUnauthorized, "Authorization Error", "Athlete", "activity:read_permission", "missing")
		default:
			a = refuse(http.StatusUnauthorized, "Authorization Error", "Athlete", "access_token", "invalid")
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(a.status)
		_, _ = w.Write(providersim.EncodeJSON(a.value))
	}
}

// usage is what the app has read in the running windows.
type usage struct {
	quarter, day     int
	quarterOf, dayOf time.Time
}

// spend counts a read, refused or not, and reports whether it is within the limits.
func (s *Strava) spend() bool {
	u, now := &s.usage, s.cfg.Now().UTC()
	if at := now.Truncate(15 * time.Minute); !at.Equal(u.quarterOf) {
		u.quarter, u.quarterOf = 0, at
	}
	if at := now.Truncate(24 * time.Hour); !at.Equal(u.dayOf) {
		u.day, u.dayOf = 0, at
	}
	u.quarter++
	u.day++
	return u.quarter <= s.cfg.Quarter && u.day <= s.cfg.Day
}

func (s *Strava) announce(h http.Header) {
	h.Set("X-RateLimit-Limit", fmt.Sprintf("%d,%d", 2*s.cfg.Quarter, 2*s.cfg.Day))
	h.Set("X-RateLimit-Usage", fmt.Sprintf("%d,%d", s.usage.quarter, s.usage.day))
	h.Set("X-ReadRateLimit-Limit", fmt.Sprintf("%d,%d", s.cfg.Quarter, s.cfg.Day))
	h.Set("X-ReadRateLimit-Usage", fmt.Sprintf("%d,%d", s.usage.quarter, s.usage.day))
}

// number reads a parameter of the query.
func number(q url.Values, name string, standard int64) (int64, bool) {
	if !q.Has(name) {
		return standard, true
	}
	n, err := strconv.ParseInt(q.Get(name), 10, 64)
	return n, err == nil && n >= 0
}

func (s *Strava) list(r *http.Request) answer {
	q := r.URL.Query()
	size, sized := number(q, "per_page", 30)
	page, paged := number(q, "page", 1)
	after, from := number(q, "after", 0)
	before, to := number(q, "before", 1<<40)
	if !sized || !paged || !from || !to || size < 1 || size > 200 || page < 1 {
		return refuse(http.StatusBadRequest, "Bad Request", "Activity", "per_page", "invalid")
	}
	var all []*activity
	for _, a := range s.activities {
		if at := a.start.Unix(); !a.deleted && at > after && at < before {
			all = append(all, a)
		}
	}
	slices.SortFunc(all, func(a, b *activity) int {
		if q.Has("after") && !q.Has("before") {
			a, b = b, a
		}
		return b.start.Compare(a.start)
	})
	step := min(int(size), s.cfg.MaxPage)
	first := min((int(page)-1)*step, len(all))
	last := min(first+step, len(all))
	rows := []object{}
	everything := s.Tokens.Check(r.Header.Get("Authorization"), ScopeAll) == providersim.TokenActive
	for _, a := range all[first:last] {
		if !a.ghost && (everything || !a.hidden) {
			rows = append(rows, a.object())
		}
	}
	return ok(rows)
}
