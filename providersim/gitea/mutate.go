package gitea

import (
	"fmt"
	"strconv"

	"github.com/pdpp-go/pdpp/providersim"
)

// operations are the mutations that the control port knows.
var operations = map[string]func(g *Gitea) string{
	"introduce": func(g *Gitea) string { g.about += "!"; return "" },
	"create_repository": func(g *Gitea) string {
		r := g.addRepo(me, g.now())
		g.addComment(g.addIssue(r, false, me, g.now()), g.now())
		return strconv.FormatInt(r.id, 10)
	},
	"describe_repository": func(g *Gitea) string { return g.anyRepo(me, func(r *repo) { r.about += "!"; r.since = g.now() }) },
	"delete_repository":   func(g *Gitea) string { return g.anyRepo(me, func(r *repo) { r.gone = true }) },
	// The person no longer works on it, but it can still be seen.
	"leave_repository": func(g *Gitea) string { return g.anyRepo(me, func(r *repo) { r.listed, r.private = false, false }) },
	"rename_repository": func(g *Gitea) string {
		return g.anyRepo(me, func(r *repo) { r.name += "-x"; r.since = g.now() })
	},
	"star": func(g *Gitea) string {
		r := g.addRepo("wren", g.now())
		r.private = false
		g.stars[r.id] = true
		return strconv.FormatInt(r.id, 10)
	},
	"unstar":         func(g *Gitea) string { return g.anyRepo("wren", func(r *repo) { g.stars[r.id] = false }) },
	"lose_star":      func(g *Gitea) string { g.hidden++; return "" },
	"open_issue":     func(g *Gitea) string { return g.opened(false) },
	"open_pull":      func(g *Gitea) string { return g.opened(true) },
	"open_elsewhere": func(g *Gitea) string { return g.addIssue(g.addRepo("wren", g.now()).open(), false, me, g.now()).key() },
	"edit_issue":     func(g *Gitea) string { return g.anyIssue(false, func(i *issue) { i.body += "!"; i.updated = g.now() }) },
	"close_issue": func(g *Gitea) string {
		return g.anyIssue(false, func(i *issue) { i.closed, i.updated = g.now(), g.now() })
	},
	"delete_issue": func(g *Gitea) string { return g.anyIssue(false, func(i *issue) { i.gone = true }) },
	"merge_pull": func(g *Gitea) string {
		return g.anyIssue(true, func(i *issue) { i.merged, i.closed, i.updated = g.now(), g.now(), g.now() })
	},
	"delete_pull": func(g *Gitea) string { return g.anyIssue(true, func(i *issue) { i.gone = true }) },
	"delete_elsewhere": func(g *Gitea) string {
		for _, i := range g.issues {
			if i.there() && i.repo.owner != me && i.author == me {
				i.gone = true
				return i.key()
			}
		}
		return ""
	},
	"comment":        func(g *Gitea) string { return g.anyIssue(false, func(i *issue) { g.addComment(i, g.now()) }) },
	"edit_comment":   func(g *Gitea) string { return g.anyComment(func(c *comment) { c.body += "!"; c.updated = g.now() }) },
	"delete_comment": func(g *Gitea) string { return g.anyComment(func(c *comment) { c.gone = true }) },
}

// open makes it one that everybody can see.
func (r *repo) open() *repo {
	r.private = false
	return r
}

// Mutate runs an operation N times.
func (g *Gitea) Mutate(m providersim.Mutation) (providersim.Mutated, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	operate, known := operations[m.Op]
	if !known || m.N < 1 || m.N > 10_000 {
		return providersim.Mutated{}, fmt.Errorf("mutation %q of %d is not known", m.Op, m.N)
	}
	out := providersim.Mutated{Op: m.Op, Now: g.cfg.Now()}
	for range m.N {
		out.IDs = append(out.IDs, operate(g))
	}
	return out, nil
}

func (g *Gitea) opened(pull bool) string {
	key := ""
	g.anyRepo(me, func(r *repo) { key = g.addIssue(r, pull, me, g.now()).key() })
	return key
}

// any changes one of the members that fit, chosen at random; empty when none does.
func anyOf[T any](g *Gitea, all []T, fits func(T) bool, change func(T)) (chosen T, ok bool) {
	var pool []T
	for _, one := range all {
		if fits(one) {
			pool = append(pool, one)
		}
	}
	if len(pool) == 0 {
		return chosen, false
	}
	chosen = pool[g.choice.IntN(len(pool))]
	change(chosen)
	return chosen, true
}

func (g *Gitea) anyRepo(owner string, change func(*repo)) string {
	r, ok := anyOf(g, g.repos, func(r *repo) bool {
		starred, ever := g.stars[r.id]
		return r.owner == owner && !r.gone && (owner != me || r.listed) && (!ever || starred)
	}, change)
	if !ok {
		return ""
	}
	return strconv.FormatInt(r.id, 10)
}

func (g *Gitea) anyIssue(pull bool, change func(*issue)) string {
	i, ok := anyOf(g, g.issues, func(i *issue) bool { return i.pull == pull && i.there() && i.repo.listed && i.closed.IsZero() }, change)
	if !ok {
		return ""
	}
	return i.key()
}

func (g *Gitea) anyComment(change func(*comment)) string {
	c, ok := anyOf(g, g.comments, func(c *comment) bool { return c.there() && c.on.repo.listed }, change)
	if !ok {
		return ""
	}
	return strconv.FormatInt(c.id, 10)
}
