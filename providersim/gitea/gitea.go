package gitea

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/rest"
)

// Scopes of a token.
const (
	ScopeUser       = "read:user"
	ScopeRepository = "read:repository"
	ScopeIssue      = "read:issue"
)

// Config sets what the simulated account holds.
type Config struct {
	Seed         uint64
	Repositories int // of the person
	Issues       int // in them
	Pulls        int
	Comments     int
	Stars        int // repositories of others, in which the person has opened something now and then
	MaxPage      int // the most that a page holds (50)

	Token             string           // the first access token; empty means one derived from Seed
	Now               func() time.Time // clock of the data and of the Date header; nil means the wall clock
	Addr, ControlAddr string           // loopback addresses of [Start]; empty means a free port
}

// Gitea is one simulated account on a server. It is safe for concurrent use.
type Gitea struct {
	*rest.Service
	cfg      Config
	repos    []*simRepository
	issues   []*simIssue
	comments []*simComment
	stars    map[int]bool
	hidden   int // starred repositories that the person may no longer see
	about    string
}

// New returns an account generated from cfg.
func New(cfg Config) *Gitea {
	cfg.MaxPage = cmp.Or(cfg.MaxPage, 50)
	g := &Gitea{cfg: cfg, stars: map[int]bool{}, about: "Keeps <small> tools."}
	g.Service = rest.New(rest.Options{Seed: cfg.Seed, Token: cmp.Or(cfg.Token, fmt.Sprintf("%040x", cfg.Seed+1)),
		Scopes: []string{ScopeUser, ScopeRepository, ScopeIssue}, Now: cfg.Now, Errors: renderError,
		Credential: rest.AuthorizationWord("token", "Bearer"), Truth: g.truth})
	g.Operations = g.operations()
	g.handleRoutes()
	g.generateAccount()
	return g
}

func renderError(f rest.Refusal) rest.Answer {
	message := string(f.Problem)
	switch f.Problem {
	case rest.NoScope:
		message = "token does not have at least one of required scope(s), required=[" + f.Name +
			"], token scope=read:misc"
	case rest.NoToken, rest.BadToken, rest.ExpiredToken:
		message = "invalid username, password or token"
	case rest.NoRoute, rest.NotFound:
		message = "The target couldn't be found."
	}
	return rest.Answer{Status: f.Status(), Body: jsonObject{"message": message, "url": serverAddress + "/api/swagger"}}
}

// operations are the mutations of the control port.
func (g *Gitea) operations() map[string]func() string {
	editRepository := func(owner string, edit func(*simRepository)) func() string {
		return edits(g, &g.repos, func(r *simRepository) bool { return g.isEditable(owner, r) }, edit)
	}
	editIssue := func(pull bool, edit func(*simIssue)) func() string {
		return edits(g, &g.issues, func(i *simIssue) bool {
			return i.pull == pull && i.isPresent() && i.repo.listed && i.closed.IsZero()
		}, edit)
	}
	editComment := func(edit func(*simComment)) func() string {
		return edits(g, &g.comments, func(c *simComment) bool { return c.isPresent() && c.on.repo.listed }, edit)
	}
	open := func(pull bool) func() string {
		return editRepository(ownLogin, func(r *simRepository) { g.newIssue(r, pull, ownLogin, g.serverTime()) })
	}
	return map[string]func() string{
		"introduce": func() string { g.about += "!"; return "" },
		"create_repository": func() string {
			r := g.newRepository(ownLogin, g.serverTime())
			g.newComment(g.newIssue(r, false, ownLogin, g.serverTime()), g.serverTime())
			return r.recordKey()
		},
		"describe_repository": editRepository(ownLogin, func(r *simRepository) { r.about += "!"; r.since = g.serverTime() }),
		"delete_repository":   editRepository(ownLogin, func(r *simRepository) { r.gone = true }),
		// The person no longer works on it, but it can still be seen.
		"leave_repository":  editRepository(ownLogin, func(r *simRepository) { r.listed, r.private = false, false }),
		"rename_repository": editRepository(ownLogin, func(r *simRepository) { r.name += "-x"; r.since = g.serverTime() }),
		"star": func() string {
			r := g.newRepository("wren", g.serverTime())
			g.stars[r.id] = true
			return r.recordKey()
		},
		"unstar":     editRepository("wren", func(r *simRepository) { g.stars[r.id] = false }),
		"lose_star":  func() string { g.hidden++; return "" },
		"open_issue": open(false), "open_pull": open(true),
		"open_elsewhere": func() string {
			return g.newIssue(g.newRepository("wren", g.serverTime()), false, ownLogin, g.serverTime()).recordKey()
		},
		"edit_issue":   editIssue(false, func(i *simIssue) { i.body += "!"; i.updated = g.serverTime() }),
		"close_issue":  editIssue(false, func(i *simIssue) { i.closed, i.updated = g.serverTime(), g.serverTime() }),
		"delete_issue": editIssue(false, func(i *simIssue) { i.gone = true }),
		"merge_pull": editIssue(true, func(i *simIssue) {
			i.merged, i.closed, i.updated = g.serverTime(), g.serverTime(), g.serverTime()
		}),
		"delete_pull": editIssue(true, func(i *simIssue) { i.gone = true }),
		"delete_elsewhere": edits(g, &g.issues, func(i *simIssue) bool {
			return i.isPresent() && i.repo.owner != ownLogin && i.author == ownLogin
		}, func(i *simIssue) { i.gone = true }),
		"comment":        editIssue(false, func(i *simIssue) { g.newComment(i, g.serverTime()) }),
		"edit_comment":   editComment(func(c *simComment) { c.body += "!"; c.updated = g.serverTime() }),
		"delete_comment": editComment(func(c *simComment) { c.gone = true }),
	}
}

// keyed is an item with the key of its record.
type keyed interface {
	comparable
	recordKey() string
}

func edits[T keyed](g *Gitea, all *[]T, fits func(T) bool, edit func(T)) func() string {
	return rest.Edit(g.Service, func() []T { return *all }, fits, func(x T) string { edit(x); return x.recordKey() })
}

// isEditable reports whether an owner's repository is there: one of the person, or a starred one of another user.
func (g *Gitea) isEditable(owner string, r *simRepository) bool {
	starred, ever := g.stars[r.id]
	return r.owner == owner && !r.gone && (owner != ownLogin || r.listed) && (!ever || starred)
}

func (g *Gitea) handleRoutes() {
	on := func(path, scope string, serve func(*http.Request) rest.Answer) {
		g.Handle("GET /api/v1"+path, scope, serve)
	}
	inRepository := func(path, scope string, serve func(*http.Request, *simRepository) rest.Answer) {
		on("/repos/{owner}/{name}/"+path, scope, func(r *http.Request) rest.Answer {
			for _, one := range g.repos {
				if strings.EqualFold(one.fullName(), r.PathValue("owner")+"/"+r.PathValue("name")) && one.isVisible() {
					return serve(r, one)
				}
			}
			return g.Refuse(r, rest.NotFound, "")
		})
	}
	on("/user", ScopeUser, func(*http.Request) rest.Answer { return rest.OK(g.userObject()) })
	on("/user/repos", ScopeRepository, func(r *http.Request) rest.Answer {
		all := rest.Filter(g.repos, func(r *simRepository) bool { return r.listed && r.isVisible() })
		slices.SortFunc(all, func(a, b *simRepository) int { return strings.Compare(a.name, b.name) })
		return serveList(g, r, all, g.repoObject, true, 0)
	})
	on("/user/starred", ScopeUser, func(r *http.Request) rest.Answer {
		all := rest.Filter(g.repos, func(r *simRepository) bool { return g.stars[r.id] && r.isVisible() })
		return serveList(g, r, all, g.repoObject, false, g.hidden)
	})
	on("/repositories/{id}", ScopeRepository, func(r *http.Request) rest.Answer {
		for _, one := range g.repos {
			if strconv.Itoa(one.id) == r.PathValue("id") && one.isVisible() {
				return rest.OK(g.repoObject(one))
			}
		}
		return g.Refuse(r, rest.NotFound, "")
	})
	on("/repos/issues/search", ScopeIssue, func(r *http.Request) rest.Answer {
		q := r.URL.Query()
		return serveList(g, r, g.filterIssues(r, q.Get("type"),
			func(i *simIssue) bool { return q.Get("created") != "true" || i.author == ownLogin }), g.issueObject, true, 0)
	})
	inRepository("issues", ScopeIssue, func(r *http.Request, of *simRepository) rest.Answer {
		return serveList(g, r, g.filterIssues(r, r.URL.Query().Get("type"),
			func(i *simIssue) bool { return i.repo == of }), g.issueObject, true, 0)
	})
	inRepository("pulls", ScopeRepository, func(r *http.Request, of *simRepository) rest.Answer {
		all := g.filterIssues(r, "pulls", func(i *simIssue) bool { return i.repo == of })
		if r.URL.Query().Get("sort") == "recentupdate" {
			slices.SortStableFunc(all, func(a, b *simIssue) int { return b.updated.Compare(a.updated) })
		}
		return serveList(g, r, all, g.pullObject, true, 0)
	})
	inRepository("issues/comments", ScopeIssue, func(r *http.Request, of *simRepository) rest.Answer {
		return serveList(g, r, rest.Filter(g.comments, func(c *simComment) bool {
			return c.isPresent() && c.on.repo == of && changedWithin(r, c.updated)
		}), commentObject, false, 0)
	})
}

// serveList answers a page of a list. Extra rows are counted in the total and not listed.
func serveList[T any](g *Gitea, r *http.Request, all []T, show func(T) jsonObject, links bool, extra int) rest.Answer {
	return rest.Serve(g.Service, r, rest.Pager{Style: rest.Number, Place: "page", Size: "limit", Usual: 30,
		Cap: g.cfg.MaxPage, TotalHeader: "X-Total-Count", Link: links, Base: serverAddress},
		rest.List[T]{All: all, Show: show, Extra: extra})
}

// changedWithin reports whether a time is in the span that a request asks for.
func changedWithin(r *http.Request, at time.Time) bool {
	since, err := time.Parse(time.RFC3339, r.URL.Query().Get("since"))
	return err != nil || !at.Before(since)
}

// filterIssues are the issues or pull requests that a request asks for, newest first.
func (g *Gitea) filterIssues(r *http.Request, kind string, fits func(*simIssue) bool) []*simIssue {
	all := rest.Filter(g.issues, func(i *simIssue) bool {
		open := r.URL.Query().Get("state") == "all" || i.closed.IsZero()
		return i.isPresent() && i.repo.isVisible() && open && (kind == "" || (kind == "pulls") == i.pull) &&
			changedWithin(r, i.updated) && fits(i)
	})
	slices.Reverse(all)
	return all
}

// Server is a running account.
type Server = providersim.Running[*Gitea]

// Start serves a new account and its control port on loopback.
func Start(cfg Config) (*Server, error) {
	return providersim.Start("gitea", New(cfg), cfg.Addr, cfg.ControlAddr)
}
