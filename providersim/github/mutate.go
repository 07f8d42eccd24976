package github

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
)

// operations are the mutations that the control port knows. Each moves the
// logical clock and returns the ids that it touched.
var operations = map[string]func(g *GitHub, n int) []string{
	"add_repositories": func(g *GitHub, n int) []string { return times(n, func() string { return ident(g.addRepo().id) }) },
	"push_repositories": func(g *GitHub, n int) []string {
		return g.eachRepo(n, func(r *repo) { r.pushed, r.updated = g.clock, g.clock })
	},
	"edit_repositories": func(g *GitHub, n int) []string {
		return g.eachRepo(n, func(r *repo) { r.revision++; r.archived = true; r.updated = g.clock })
	},
	"delete_repositories": func(g *GitHub, n int) []string { return g.eachRepo(n, func(r *repo) { r.deleted = true }) },
	"rename_repositories": (*GitHub).renameRepos,
	"block_repositories":  func(g *GitHub, n int) []string { return g.eachBusyRepo(n, func(r *repo) { r.blocked = true }) },
	"add_stars":           func(g *GitHub, n int) []string { return times(n, func() string { return ident(g.addStar().id) }) },
	"unstar":              func(g *GitHub, n int) []string { return g.eachStar(n, func(s *star) { s.gone = true }) },
	"stub_stars":          func(g *GitHub, n int) []string { return g.eachStar(n, func(s *star) { s.stub = true }) },
	"add_issues":          func(g *GitHub, n int) []string { return times(n, func() string { return ident(g.addIssue(false).id) }) },
	"touch_issues":        func(g *GitHub, n int) []string { return g.eachIssue(n, false, g.touch) },
	"delete_issues":       (*GitHub).deleteIssues,
	"add_pulls":           func(g *GitHub, n int) []string { return times(n, func() string { return ident(g.addIssue(true).id) }) },
	"touch_pulls":         func(g *GitHub, n int) []string { return g.eachIssue(n, true, g.touch) },
	"hide_pulls": func(g *GitHub, n int) []string {
		return g.eachIssue(n, true, func(i *issue) { i.refusal = http.StatusNotFound })
	},
	"delete_pulls": func(g *GitHub, n int) []string {
		return g.eachIssue(n, true, func(i *issue) { i.refusal = http.StatusGone })
	},
	"add_gists":    func(g *GitHub, n int) []string { return times(n, func() string { return g.addGist().id }) },
	"delete_gists": (*GitHub).deleteGists,
	"add_events": func(g *GitHub, n int) []string {
		return times(n, func() string { g.tick(time.Second); g.addEvent(); return "" })
	},
	"edit_profile": func(g *GitHub, _ int) []string {
		g.user.revision++
		g.user.updated = g.clock
		return []string{ident(ownID)}
	},
	"drift": func(g *GitHub, n int) []string { g.drift = n; return nil },
}

// settings are the mutations that read ID instead of N.
var settings = map[string]func(g *GitHub, id string){
	"sso": func(g *GitHub, id string) { g.access.sso = id }, // "", partial or required
}

// Mutate runs an operation with N, or a setting with ID.
func (g *GitHub) Mutate(m providersim.Mutation) (providersim.Mutated, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := providersim.Mutated{Op: m.Op, IDs: []string{m.ID}}
	operate, counted := operations[m.Op]
	set, named := settings[m.Op]
	switch {
	case named:
		set(g, m.ID)
	case !counted:
		return providersim.Mutated{}, fmt.Errorf("unknown mutation %q", m.Op)
	case m.N < 1 || m.N > 100_000:
		return providersim.Mutated{}, fmt.Errorf("mutation %s: n must be 1 to 100000", m.Op)
	default:
		g.tick(90 * time.Second)
		out.IDs = operate(g, m.N)
	}
	out.Now = g.clock
	return out, nil
}

// churn changes something after a page of a list, while the drift lasts: what the
// client has not read yet shifts under it.
func (g *GitHub) churn(r *http.Request) {
	change := map[string]string{
		"/user/repos": "push_repositories", "/user/starred": "add_stars", "/issues": "touch_issues",
		"/search/issues": "touch_pulls", "/gists": "add_gists",
	}[r.URL.Path]
	if g.drift == 0 || change == "" {
		return
	}
	g.drift--
	g.tick(time.Second)
	operations[change](g, 2)
}

func (g *GitHub) touch(i *issue) {
	i.revision++
	i.updated, i.closed = g.clock, !i.closed
	if i.pull != nil {
		i.pull.merged = i.closed
	}
}

// renameRepos gives repositories with issues another name; the old one redirects.
func (g *GitHub) renameRepos(n int) []string {
	return g.eachBusyRepo(n, func(r *repo) { r.former, r.name, r.updated = r.fullName(), r.name+"-renamed", g.clock })
}

// eachRepo changes repositories without issues, eachBusyRepo those with.
func (g *GitHub) eachRepo(n int, change func(*repo)) []string {
	return each(g, n, g.repos, func(r *repo) bool { return !r.deleted && !r.busy }, func(r *repo) string { change(r); return ident(r.id) })
}

func (g *GitHub) eachBusyRepo(n int, change func(*repo)) []string {
	return each(g, n, g.repos, func(r *repo) bool { return !r.deleted && r.busy }, func(r *repo) string { change(r); return ident(r.id) })
}

func (g *GitHub) eachStar(n int, change func(*star)) []string {
	return each(g, n, g.stars, func(s *star) bool { return !s.gone && !s.stub }, func(s *star) string { change(s); return ident(s.id) })
}

func (g *GitHub) eachIssue(n int, pulls bool, change func(*issue)) []string {
	return each(g, n, g.issues, func(i *issue) bool { return i.refusal == 0 && (i.pull != nil) == pulls }, func(i *issue) string { change(i); return ident(i.id) })
}

// deleteIssues deletes issues as the owner of a repository can; nothing shows them any more.
func (g *GitHub) deleteIssues(n int) []string {
	gone := g.eachIssue(n, false, func(*issue) {})
	g.issues = slices.DeleteFunc(g.issues, func(i *issue) bool { return slices.Contains(gone, ident(i.id)) })
	return gone
}

func (g *GitHub) deleteGists(n int) []string {
	return each(g, n, g.gists, func(x *gist) bool { return !x.deleted }, func(x *gist) string { x.deleted = true; return x.id })
}

// each changes up to n of the eligible things, chosen at random.
func each[T any](g *GitHub, n int, from []T, eligible func(T) bool, change func(T) string) []string {
	var pool []T
	for _, x := range from {
		if eligible(x) {
			pool = append(pool, x)
		}
	}
	g.choice.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
	var ids []string
	for _, x := range pool[:min(n, len(pool))] {
		ids = append(ids, change(x))
	}
	return ids
}

func times(n int, do func() string) []string {
	ids := make([]string, 0, n)
	for range n {
		ids = append(ids, do())
	}
	return ids
}

func ident(id int64) string { return strconv.FormatInt(id, 10) }
