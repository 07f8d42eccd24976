package gitea

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
)

type object map[string]any

// zone is where the server stands.
var zone = time.FixedZone("", 2*3600)

func spelled(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.In(zone).Format(time.RFC3339)
}

func refusal(message string) object { return object{"message": message, "url": host + "/api/swagger"} }

// faultBody is how a server words what a fault of the gate makes it say.
func faultBody(code string) []byte {
	if code == "token_expired" {
		return providersim.EncodeJSON(refusal("invalid username, password or token"))
	}
	return providersim.EncodeJSON(refusal(code))
}

// answer is what a route gives; a list has rows.
type answer struct {
	status int
	value  any
	rows   []object
	// total is the number that the server tells of a list; links says that it leads to other pages.
	total int
	links bool
}

func missing() answer { return answer{status: 404, value: refusal("The target couldn't be found.")} }

func listed(rows []object, links bool) answer {
	return answer{status: 200, rows: rows, total: len(rows), links: links}
}

func (g *Gitea) routes() *http.ServeMux {
	mux := http.NewServeMux()
	for pattern, route := range map[string]struct {
		scope string
		serve func(*http.Request) answer
	}{
		"/user":                                  {ScopeUser, func(*http.Request) answer { return answer{status: 200, value: g.user()} }},
		"/user/repos":                            {ScopeRepository, g.listRepos},
		"/user/starred":                          {ScopeUser, g.listStars},
		"/repositories/{id}":                     {ScopeRepository, g.oneRepo},
		"/repos/issues/search":                   {ScopeIssue, g.search},
		"/repos/{owner}/{name}/issues":           {ScopeIssue, g.listIssues},
		"/repos/{owner}/{name}/pulls":            {ScopeRepository, g.listPulls},
		"/repos/{owner}/{name}/issues/comments":  {ScopeIssue, g.listComments},
		"/repos/{owner}/{name}/issues/{number}/": {ScopeIssue, func(*http.Request) answer { return missing() }},
	} {
		mux.HandleFunc("GET /api/v1"+pattern, g.handle(route.scope, route.serve))
	}
	mux.HandleFunc("/", g.handle("", func(*http.Request) answer { return missing() }))
	return mux
}

func (g *Gitea) handle(scope string, serve func(*http.Request) answer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		defer g.mu.Unlock()
		var a answer
		switch state := g.Tokens.Check(authorization(r.Header.Get("Authorization")), scope); {
		case state == providersim.TokenUnderScoped:
			a = answer{status: 403, value: refusal("token does not have at least one of required scope(s), required=[" + scope + "], token scope=read:misc")}
		case state != providersim.TokenActive:
			a = answer{status: 401, value: refusal("invalid username, password or token")}
		default:
			a = serve(r)
		}
		w.Header().Set("Content-Type", "application/json;charset=utf-8")
		if a.rows != nil {
			a.value = g.page(w.Header(), r, a)
		}
		w.WriteHeader(a.status)
		_, _ = w.Write(providersim.EncodeJSON(a.value))
	}
}

// page cuts a list and says what else there is.
func (g *Gitea) page(h http.Header, r *http.Request, a answer) []object {
	q := r.URL.Query()
	number, _ := strconv.Atoi(q.Get("page"))
	limit, _ := strconv.Atoi(q.Get("limit"))
	if number = max(number, 1); limit <= 0 {
		limit = 30
	}
	limit = min(limit, g.cfg.MaxPage)
	fault := providersim.PageFaultFrom(r.Context())
	from := min((number-1)*limit, len(a.rows))
	to := min(from+fault.Size(limit), len(a.rows))
	h.Set("X-Total-Count", strconv.Itoa(a.total))
	h.Set("Access-Control-Expose-Headers", "X-Total-Count, Link")
	link := func(page int, rel string) string {
		q.Set("page", strconv.Itoa(page))
		return fmt.Sprintf(`<%s%s?%s>; rel="%s"`, host, r.URL.Path, q.Encode(), rel)
	}
	if last := (len(a.rows) + limit - 1) / limit; a.links && number < last {
		h.Set("Link", link(number+1, "next")+","+link(last, "last"))
	}
	return a.rows[from:to]
}

// repo finds what a path names, unless the person may not see it.
func (g *Gitea) repo(r *http.Request) *repo {
	for _, one := range g.repos {
		if strings.EqualFold(one.full(), r.PathValue("owner")+"/"+r.PathValue("name")) && one.visible() {
			return one
		}
	}
	return nil
}

func (r *repo) visible() bool { return !r.gone && (r.listed || !r.private) }

func (g *Gitea) oneRepo(r *http.Request) answer {
	for _, one := range g.repos {
		if strconv.FormatInt(one.id, 10) == r.PathValue("id") && one.visible() {
			return answer{status: 200, value: g.repoObject(one)}
		}
	}
	return missing()
}

func (g *Gitea) listRepos(*http.Request) answer {
	rows := []object{}
	for _, r := range slices.SortedFunc(slices.Values(g.repos), func(a, b *repo) int { return strings.Compare(a.name, b.name) }) {
		if r.listed && r.visible() {
			rows = append(rows, g.repoObject(r))
		}
	}
	return listed(rows, true)
}

func (g *Gitea) listStars(*http.Request) answer {
	rows := []object{}
	for _, r := range g.repos {
		if g.stars[r.id] && r.visible() {
			rows = append(rows, g.repoObject(r))
		}
	}
	a := listed(rows, false)
	a.total += g.hidden
	return a
}

// changed tells whether something is in the span that a request asks for.
func changed(r *http.Request, at time.Time) bool {
	since, err := time.Parse(time.RFC3339, r.URL.Query().Get("since"))
	return err != nil || !at.Before(since)
}

// some are the issues or pull requests that a request asks for, newest first.
func (g *Gitea) some(r *http.Request, kind string, fits func(*issue) bool) []*issue {
	var out []*issue
	for _, i := range slices.Backward(g.issues) {
		open := r.URL.Query().Get("state") == "all" || i.closed.IsZero()
		if i.there() && i.repo.visible() && open && (kind == "" || (kind == "pulls") == i.pull) && changed(r, i.updated) && fits(i) {
			out = append(out, i)
		}
	}
	return out
}

func (g *Gitea) listIssues(r *http.Request) answer {
	of := g.repo(r)
	if of == nil || of.noIssues {
		return missing()
	}
	rows := []object{}
	for _, i := range g.some(r, r.URL.Query().Get("type"), func(i *issue) bool { return i.repo == of }) {
		rows = append(rows, g.issueObject(i))
	}
	return listed(rows, true)
}

func (g *Gitea) search(r *http.Request) answer {
	rows, q := []object{}, r.URL.Query()
	for _, i := range g.some(r, q.Get("type"), func(i *issue) bool { return q.Get("created") != "true" || i.author == me }) {
		rows = append(rows, g.issueObject(i))
	}
	return listed(rows, true)
}

func (g *Gitea) listPulls(r *http.Request) answer {
	of := g.repo(r)
	if of == nil {
		return missing()
	}
	all := g.some(r, "pulls", func(i *issue) bool { return i.repo == of })
	if r.URL.Query().Get("sort") == "recentupdate" {
		slices.SortStableFunc(all, func(a, b *issue) int { return b.updated.Compare(a.updated) })
	}
	rows := []object{}
	for _, i := range all {
		rows = append(rows, g.pullObject(i))
	}
	return listed(rows, true)
}

func (g *Gitea) listComments(r *http.Request) answer {
	of := g.repo(r)
	if of == nil {
		return missing()
	}
	rows := []object{}
	for _, c := range g.comments {
		if c.there() && c.on.repo == of && changed(r, c.updated) {
			rows = append(rows, commentObject(c))
		}
	}
	return listed(rows, false)
}
