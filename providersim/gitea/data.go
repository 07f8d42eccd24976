package gitea

import (
	"fmt"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/providersim/rest"
)

type jsonObject = rest.Object

// Streams of the ground truth.
const (
	StreamUser         = "user"
	StreamRepositories = "repositories"
	StreamStarred      = "starred"
	StreamIssues       = "issues"
	StreamPulls        = "pulls"
	StreamComments     = "comments"
)

const (
	ownLogin      = "lark"
	ownAccountID  = 7
	serverAddress = "https://git.example.org"
)

type simRepository struct {
	id             int
	owner, name    string
	about          string
	private        bool
	listed         bool // it is the person's, or they work on it
	gone           bool
	last           int // number of the last issue
	created, since time.Time
}

func (r *simRepository) fullName() string  { return r.owner + "/" + r.name }
func (r *simRepository) isVisible() bool   { return !r.gone && (r.listed || !r.private) }
func (r *simRepository) recordKey() string { return strconv.Itoa(r.id) }

type simIssue struct {
	repo             *simRepository
	id, pullID       int
	number           int
	pull             bool
	author           string
	title, body      string
	closed, merged   time.Time
	created, updated time.Time
	gone             bool
}

type simComment struct {
	id               int
	on               *simIssue
	author, body     string
	created, updated time.Time
	gone             bool
}

// serverTime is the time as a server keeps it.
func (g *Gitea) serverTime() time.Time { return g.Now().Truncate(time.Second) }

func (g *Gitea) newRepository(owner string, at time.Time) *simRepository {
	id := g.NextID()
	r := &simRepository{id: id, owner: owner, name: fmt.Sprintf("kiln-%d", id),
		about:   fmt.Sprintf("Fires <%d> bowls.", id),
		private: id%3 == 0 && owner == ownLogin, listed: owner == ownLogin, created: at, since: at}
	g.repos = append(g.repos, r)
	return r
}

func (g *Gitea) newIssue(r *simRepository, pull bool, author string, at time.Time) *simIssue {
	r.last++
	i := &simIssue{
		repo: r, id: g.NextID(), number: r.last, pull: pull, author: author,
		title:   fmt.Sprintf("Glaze %d cracks", r.last),
		body:    fmt.Sprintf("Seen at *%d* degrees.\n", 900+r.last),
		created: at, updated: at,
	}
	if pull {
		i.pullID = g.NextID()
	}
	g.issues = append(g.issues, i)
	return i
}

func (g *Gitea) newComment(on *simIssue, at time.Time) *simComment {
	c := &simComment{id: g.NextID(), on: on, author: ownLogin, body: "Try a slower kiln.", created: at, updated: at}
	if c.id%2 == 0 {
		c.author = "wren"
	}
	g.comments = append(g.comments, c)
	on.updated = at
	return c
}

// generateAccount makes an account that has rested for a day.
func (g *Gitea) generateAccount() {
	at := g.serverTime().Add(-24 * time.Hour)
	tick := func() time.Time { at = at.Add(time.Second); return at }
	var own []*simRepository
	for range g.cfg.Repositories {
		own = append(own, g.newRepository(ownLogin, tick()))
	}
	pick := func(n int) *simRepository { return own[(n*n/3)%len(own)] } // some have many
	if len(own) > 0 {
		for n := range g.cfg.Issues {
			g.newIssue(pick(n), false, []string{ownLogin, "wren"}[n%2], tick())
		}
		for n := range g.cfg.Pulls {
			g.newIssue(pick(n), true, []string{"wren", ownLogin}[n%2], tick())
		}
		for n := range g.cfg.Comments {
			g.newComment(g.issues[n%len(g.issues)], tick())
		}
	}
	for n := range g.cfg.Stars {
		r := g.newRepository("wren", tick())
		g.stars[r.id] = true
		g.newIssue(r, n%4 == 0, []string{ownLogin, "wren"}[n%2], tick())
	}
}

func (i *simIssue) recordKey() string { return fmt.Sprintf("%d:%d", i.repo.id, i.number) }
func (i *simIssue) isPresent() bool   { return !i.gone && !i.repo.gone }

func (c *simComment) recordKey() string { return strconv.Itoa(c.id) }
func (c *simComment) isPresent() bool   { return !c.gone && c.on.isPresent() }

func (i *simIssue) stateName() string {
	if i.closed.IsZero() {
		return "open"
	}
	return "closed"
}

func (i *simIssue) htmlAddress() string {
	kind := "issues"
	if i.pull {
		kind = "pulls"
	}
	return fmt.Sprintf("%s/%s/%s/%d", serverAddress, i.repo.fullName(), kind, i.number)
}
