package gitea

import (
	"fmt"
	"time"
)

// Streams of [Gitea.Truth].
const (
	StreamUser         = "user"
	StreamRepositories = "repositories"
	StreamStarred      = "starred"
	StreamIssues       = "issues"
	StreamPulls        = "pulls"
	StreamComments     = "comments"
)

const (
	me   = "lark"
	meID = 7
	host = "https://git.example.org"
)

type repo struct {
	id             int64
	owner, name    string
	about          string
	private        bool
	noIssues       bool
	listed         bool // it is the person's, or they work on it
	gone           bool
	last           int64 // number of the last issue
	created, since time.Time
}

func (r *repo) full() string { return r.owner + "/" + r.name }

type issue struct {
	repo             *repo
	id, pullID       int64
	number           int64
	pull             bool
	author           string
	title, body      string
	labels           []string
	milestone        string
	closed, merged   time.Time
	created, updated time.Time
	gone             bool
}

type comment struct {
	id               int64
	on               *issue
	author, body     string
	created, updated time.Time
	gone             bool
}

func (g *Gitea) id() int64 {
	g.lastID++
	return g.lastID
}

// now is the time as a server keeps it.
func (g *Gitea) now() time.Time { return g.cfg.Now().Truncate(time.Second) }

func (g *Gitea) addRepo(owner string, at time.Time) *repo {
	id := g.id()
	r := &repo{id: id, owner: owner, name: fmt.Sprintf("kiln-%d", id), about: fmt.Sprintf("Fires <%d> bowls.", id), private: id%3 == 0, listed: owner == me, created: at, since: at}
	g.repos = append(g.repos, r)
	return r
}

func (g *Gitea) addIssue(r *repo, pull bool, author string, at time.Time) *issue {
	r.last++
	i := &issue{
		repo: r, id: g.id(), number: r.last, pull: pull, author: author, title: fmt.Sprintf("Glaze %d cracks", r.last), body: fmt.Sprintf("Seen at *%d* degrees.\n", 900+r.last),
		created: at, updated: at,
	}
	if pull {
		i.pullID = g.id()
	}
	if i.number%3 == 0 {
		i.labels, i.milestone = []string{"heat", "slow"}, "Spring"
	}
	g.issues = append(g.issues, i)
	return i
}

func (g *Gitea) addComment(on *issue, at time.Time) *comment {
	c := &comment{id: g.id(), on: on, author: me, body: "Try a slower kiln.", created: at, updated: at}
	if c.id%2 == 0 {
		c.author = "wren"
	}
	g.comments = append(g.comments, c)
	on.updated = at
	return c
}

// generate makes an account that has rested for a day.
func (g *Gitea) generate() {
	at := g.now().Add(-24 * time.Hour)
	tick := func() time.Time { at = at.Add(time.Second); return at }
	var own []*repo
	for range g.cfg.Repositories {
		own = append(own, g.addRepo(me, tick()))
	}
	pick := func(n int) *repo { return own[(n*n/3)%len(own)] } // some have many
	if len(own) > 0 {
		for n := range g.cfg.Issues {
			g.addIssue(pick(n), false, []string{me, "wren"}[n%2], tick())
		}
		for n := range g.cfg.Pulls {
			g.addIssue(pick(n), true, []string{"wren", me}[n%2], tick())
		}
		for n := range g.cfg.Comments {
			g.addComment(g.issues[n%len(g.issues)], tick())
		}
	}
	for n := range g.cfg.Stars {
		r := g.addRepo("wren", tick())
		r.private = false
		g.stars[r.id] = true
		g.addIssue(r, n%4 == 0, []string{me, "wren"}[n%2], tick())
	}
}

// has are the comments of an issue.
func (g *Gitea) has(i *issue) (n int) {
	for _, c := range g.comments {
		if c.on == i && !c.gone {
			n++
		}
	}
	return n
}

func (i *issue) there() bool { return !i.gone && !i.repo.gone }

func (i *issue) state() string {
	if i.closed.IsZero() {
		return "open"
	}
	return "closed"
}

func (i *issue) address() string {
	kind := "issues"
	if i.pull {
		kind = "pulls"
	}
	return fmt.Sprintf("%s/%s/%s/%d", host, i.repo.full(), kind, i.number)
}

func (c *comment) there() bool { return !c.gone && c.on.there() }
