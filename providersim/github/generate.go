package github

import (
	"fmt"
	"time"
)

// generate fills an empty account. Afterwards the clock stands behind everything
// that was made.
func (g *GitHub) generate() {
	g.user = user{updated: g.clock, followers: 40}
	for range max(1, g.cfg.Repositories) {
		g.tick(40 * time.Minute)
		g.addRepo()
	}
	for range g.cfg.Stars {
		g.tick(3 * time.Minute)
		g.addStar()
	}
	for i := range g.cfg.Issues {
		// Every third shares its second with the one before: bounds in whole
		// seconds must be inclusive.
		if i%3 != 0 {
			g.tick(7 * time.Minute)
		}
		g.addIssue(false)
	}
	for i := range g.cfg.Pulls {
		switch {
		case g.cfg.SameDay && i > 0:
			g.tick(time.Second)
		case i%4 != 0:
			g.tick(5 * time.Hour)
		}
		g.addIssue(true)
	}
	for range g.cfg.Gists {
		g.tick(time.Hour)
		g.addGist()
	}
	for range g.cfg.Events {
		g.tick(2 * time.Minute)
		g.addEvent()
	}
	g.tick(time.Hour)
}

func (g *GitHub) tick(d time.Duration) { g.clock = g.clock.Add(d) }

func (g *GitHub) id() int64 {
	g.nextID += 1 + g.choice.Int64N(9)
	return g.nextID
}

func (g *GitHub) addRepo() *repo {
	n := len(g.repos)
	r := &repo{
		id: g.id(), name: fmt.Sprintf("%s-%d", words[n%20], n), owner: ownLogin, private: n%4 == 1, stargazers: n,
		created: g.clock, pushed: g.clock, updated: g.clock,
	}
	if n%5 == 2 {
		r.owner = orgLogin
	}
	r.busy = n < 4
	g.repos = append(g.repos, r)
	return r
}

func (g *GitHub) addStar() *star {
	s := &star{id: g.id(), name: fmt.Sprintf("%s-kit-%d", words[len(g.stars)%20], len(g.stars)), at: g.clock, stargazers: 100 + len(g.stars)}
	g.stars = append(g.stars, s)
	return s
}

// addIssue puts an issue, or a pull request of the account's, into one of the
// busy repositories.
func (g *GitHub) addIssue(isPull bool) *issue {
	n := len(g.issues)
	i := &issue{
		id: g.id(), number: int64(n + 1), repo: g.repos[n%min(4, len(g.repos))], author: people[n%4],
		created: g.clock, updated: g.clock, closed: n%3 == 0,
	}
	if isPull {
		i.author = ownLogin
		i.pull = &pull{id: g.id(), merged: i.closed, draft: n%5 == 1}
	}
	g.issues = append(g.issues, i)
	return i
}

func (g *GitHub) addGist() *gist {
	x := &gist{id: fmt.Sprintf("%032x", mix(g.cfg.Seed, uint64(g.id()))), public: len(g.gists)%2 == 0, created: g.clock, updated: g.clock}
	g.gists = append(g.gists, x)
	return x
}

func (g *GitHub) addEvent() {
	n := len(g.events)
	g.events = append(g.events, event{id: g.id() + 40_000_000_000, kind: eventKind[n%len(eventKind)],
		repo: g.repos[n%len(g.repos)], at: g.clock})
}
