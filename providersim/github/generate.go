package github

import (
	"fmt"
	"time"
)

// generateAccount fills an empty account. Afterwards the clock is later than everything in it.
func (g *GitHub) generateAccount() {
	g.user = simUser{updated: g.Clock(), followers: 40}
	for range max(1, g.cfg.Repositories) {
		g.advanceClock(40 * time.Minute)
		g.addRepository()
	}
	for range g.cfg.Stars {
		g.advanceClock(3 * time.Minute)
		g.addStarred()
	}
	for i := range g.cfg.Issues {
		// Every third shares its second with the one before: bounds in whole
		// seconds must be inclusive.
		if i%3 != 0 {
			g.advanceClock(7 * time.Minute)
		}
		g.generateIssue(false)
	}
	for i := range g.cfg.Pulls {
		switch {
		case g.cfg.SameDay && i > 0:
			g.advanceClock(time.Second)
		case i%4 != 0:
			g.advanceClock(5 * time.Hour)
		}
		g.generateIssue(true)
	}
	for range g.cfg.Gists {
		g.advanceClock(time.Hour)
		g.generateGist()
	}
	for range g.cfg.Events {
		g.advanceClock(2 * time.Minute)
		g.generateEvent()
	}
	g.advanceClock(time.Hour)
}

func (g *GitHub) advanceClock(d time.Duration) { g.Service.Advance(d) }

func (g *GitHub) newObjectID() int64 { return 1000 + 7*int64(g.NextID()) }

func (g *GitHub) addRepository() *simRepository {
	n := len(g.repos)
	r := &simRepository{
		id: g.newObjectID(), name: fmt.Sprintf("%s-%d", sampleWords[n%20], n), owner: ownUserLogin, private: n%4 == 1,
		stargazers: n,
		created:    g.Clock(), pushed: g.Clock(), updated: g.Clock(),
	}
	if n%5 == 2 {
		r.owner = organizationLogin
	}
	r.busy = n < 4
	g.repos = append(g.repos, r)
	return r
}

func (g *GitHub) addStarred() *starredRepo {
	s := &starredRepo{id: g.newObjectID(), name: fmt.Sprintf("%s-kit-%d", sampleWords[len(g.stars)%20], len(g.stars)),
		at:         g.Clock(),
		stargazers: 100 + len(g.stars)}
	g.stars = append(g.stars, s)
	return s
}

// generateIssue puts an issue, or a pull request of the account's, into one of the
// busy repositories.
func (g *GitHub) generateIssue(isPull bool) *simIssue {
	n := len(g.issues)
	i := &simIssue{
		id: g.newObjectID(), number: int64(n + 1), repo: g.repos[n%min(4, len(g.repos))], author: samplePeople[n%4],
		created: g.Clock(), updated: g.Clock(), closed: n%3 == 0,
	}
	if isPull {
		i.author = ownUserLogin
		i.pull = &pullDetails{id: g.newObjectID(), merged: i.closed, draft: n%5 == 1}
	}
	g.issues = append(g.issues, i)
	return i
}

func (g *GitHub) generateGist() *simGist {
	x := &simGist{id: fmt.Sprintf("%032x", mixSeeds(g.cfg.Seed, uint64(g.newObjectID()))), public: len(g.gists)%2 == 0,
		created: g.Clock(),
		updated: g.Clock()}
	g.gists = append(g.gists, x)
	return x
}

func (g *GitHub) generateEvent() {
	n := len(g.events)
	g.events = append(g.events, simEvent{id: g.newObjectID() + 40_000_000_000, kind: eventKinds[n%len(eventKinds)],
		repo: g.repos[n%len(g.repos)], at: g.Clock()})
}
