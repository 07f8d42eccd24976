package google

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
)

type object map[string]any

type answer struct {
	status int
	value  any
}

func ok(value object) answer { return answer{http.StatusOK, value} }

// refuse is an error of the Calendar API.
func refuse(status int, domain, reason, message string) answer {
	return answer{status, object{"error": object{"errors": []object{{"domain": domain, "reason": reason, "message": message}}, "code": status, "message": message}}}
}

// deny is an error of the People API.
func deny(status int, word, reason, message string) answer {
	e := object{"code": status, "message": message, "status": word}
	if reason != "" {
		e["details"] = []object{{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": "googleapis.com"}}
	}
	return answer{status, object{"error": e}}
}

// faultBody is how Google words what a fault of the gate makes it say.
func faultBody(code string) []byte {
	a := refuse(500, "global", "backendError", "Backend Error")
	switch code {
	case "rate_limited":
		a = refuse(429, "usageLimits", "rateLimitExceeded", "Rate Limit Exceeded")
	case "token_expired":
		a = refuse(401, "global", "authError", "Invalid Credentials")
	case "unavailable":
		a = refuse(503, "global", "backendError", "Service Unavailable")
	}
	return providersim.EncodeJSON(a.value)
}

func (g *Google) routes() *http.ServeMux {
	mux := http.NewServeMux()
	on := func(pattern, scope string, known string, serve func(*http.Request) answer) {
		mux.HandleFunc("GET "+pattern, g.handle(scope, strings.Fields(known), serve))
	}
	on("/calendar/v3/users/me/calendarList", ScopeCalendar, "maxResults pageToken showHidden", g.serveCalendars)
	on("/calendar/v3/users/me/calendarList/{calendar}", ScopeCalendar, "", g.serveEntry)
	on("/calendar/v3/calendars/{calendar}", ScopeCalendar, "", g.serveCalendar)
	on("/calendar/v3/calendars/{calendar}/events", ScopeCalendar, "maxResults pageToken syncToken", g.serveEvents)
	on("/v1/people/me", ScopeContacts, "personFields", g.serveMe)
	on("/v1/people/me/connections", ScopeContacts, "personFields pageSize pageToken requestSyncToken syncToken", g.serveConnections)
	on("/v1/otherContacts", ScopeOthers, "readMask pageSize pageToken requestSyncToken syncToken", g.serveOthers)
	on("/v1/contactGroups", ScopeContacts, "groupFields pageSize pageToken", g.serveGroups)
	mux.HandleFunc("GET /o/oauth2/v2/auth", g.authorize)
	mux.HandleFunc("POST /token", g.token)
	return mux
}

func (g *Google) handle(scope string, known []string, serve func(*http.Request) answer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		defer g.mu.Unlock()
		a := g.admit(r, scope)
		for name := range r.URL.Query() {
			if a.status == 0 && !slices.Contains(known, name) {
				a = refuse(400, "global", "invalidParameter", "Unknown name "+name)
			}
		}
		if a.status == 0 {
			a = serve(r)
		}
		w.Header().Set("Content-Type", "application/json; charset=UTF-8")
		w.WriteHeader(a.status)
		_, _ = w.Write(providersim.EncodeJSON(a.value))
	}
}

// admit judges who asks and how often; a zero answer lets the request in.
func (g *Google) admit(r *http.Request, scope string) answer {
	old := strings.HasPrefix(r.URL.Path, "/calendar/")
	say := func(a, b answer) answer {
		if old {
			return a
		}
		return b
	}
	switch g.Tokens.Check(r.Header.Get("Authorization"), scope) {
	case providersim.TokenActive:
	case providersim.TokenUnderScoped:
		return say(refuse(403, "global", "insufficientPermissions", "Insufficient Permission"),
			deny(403, "PERMISSION_DENIED", "ACCESS_TOKEN_SCOPE_INSUFFICIENT", "Request had insufficient authentication scopes."))
	default:
		return say(refuse(401, "global", "authError", "Invalid Credentials"), deny(401, "UNAUTHENTICATED", "", "Request had invalid authentication credentials."))
	}
	if g.off {
		return say(refuse(403, "usageLimits", "accessNotConfigured", "Google Calendar API has not been used in project 7 before or it is disabled."),
			deny(403, "PERMISSION_DENIED", "SERVICE_DISABLED", "People API has not been used in project 7 before or it is disabled."))
	}
	now := g.cfg.Now()
	g.asked = slices.DeleteFunc(g.asked, func(t time.Time) bool { return now.Sub(t) >= time.Minute })
	if g.cfg.Rate == 0 || len(g.asked) < g.cfg.Rate {
		g.asked = append(g.asked, now)
		return answer{}
	}
	if g.refused++; g.refused%2 == 0 {
		return say(refuse(429, "usageLimits", "rateLimitExceeded", "Rate Limit Exceeded"), deny(429, "RESOURCE_EXHAUSTED", "", "Quota exceeded"))
	}
	return say(refuse(403, "usageLimits", "rateLimitExceeded", "Rate Limit Exceeded"), deny(429, "RESOURCE_EXHAUSTED", "RATE_LIMIT_EXCEEDED", "Quota exceeded"))
}

// mark is what a token of a page or of a list says.
type mark struct {
	List  string `json:"l"`
	Since int    `json:"s"` // only later changes; -1 is everything
	Upto  int    `json:"u"` // the last change when the walk began
	After int    `json:"a"` // how many things of the list were passed
	Epoch int    `json:"e"`
	Sync  bool   `json:"y"`
	Form  string `json:"f"` // the parameters that have to stay
}

// listed is one thing of a list: when it changed last, whether a list of everything has it, and how it looks.
type listed struct {
	seq   int
	there bool
	data  func() object
}

// totals are the members by which lists of the People API announce how many things they have.
var totals = map[string][]string{
	"connections": {"totalPeople", "totalItems"}, "otherContacts": {"totalSize"}, "contactGroups": {"totalItems"},
}

// page answers one page of a list. The refusals are those of its API.
func (g *Google) page(r *http.Request, list, size string, most int, member string, all []listed, bad func(string) answer, ended answer) answer {
	q := r.URL.Query()
	form := q.Get("personFields") + q.Get("readMask")
	at := mark{List: list, Since: -1, Upto: g.seq, Epoch: g.epoch, Form: form}
	if token := q.Get("syncToken"); token != "" {
		var since mark
		if !g.signer.Open(token, &since) || !since.Sync || since.List != list || since.Form != form {
			return bad("syncToken")
		}
		if since.Epoch != g.epoch {
			return ended
		}
		at.Since = since.Upto
	}
	if token := q.Get("pageToken"); token != "" {
		var here mark
		if !g.signer.Open(token, &here) || here.Sync || here.List != list || here.Since != at.Since || here.Epoch != g.epoch || here.Form != form {
			return bad("pageToken")
		}
		at = here
	}
	limit := most / 10
	if q.Has(size) {
		n, err := strconv.Atoi(q.Get(size))
		if err != nil || n < 1 {
			return bad(size)
		}
		limit = min(n, most)
	}
	if g.cfg.MaxPage > 0 {
		limit = min(limit, g.cfg.MaxPage)
	}
	fault := providersim.PageFaultFrom(r.Context())
	limit = fault.Size(limit)
	rows, i := []object{}, at.After
	for ; i < len(all) && len(rows) < limit; i++ {
		if all[i].seq > at.Since && (at.Since >= 0 || all[i].there) {
			rows = append(rows, all[i].data())
		}
	}
	more := false
	for _, x := range all[i:] {
		more = more || x.seq > at.Since && (at.Since >= 0 || x.there)
	}
	next := at
	next.After = i
	out := object{member: rows}
	for _, name := range totals[list] {
		out[name] = len(slices.DeleteFunc(slices.Clone(all), func(x listed) bool { return !x.there }))
	}
	token, more := fault.Next(g.signer.Seal(at), g.signer.Seal(next), more)
	if more {
		out["nextPageToken"] = token
	} else if q.Has("requestSyncToken") || q.Has("syncToken") || member == "items" && list != "calendarList" {
		out["nextSyncToken"] = g.signer.Seal(mark{List: list, Upto: at.Upto, Epoch: g.epoch, Sync: true, Form: form})
	}
	return ok(out)
}
