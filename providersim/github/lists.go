package github

import (
	"net/http"
	"slices"
	"time"
)

func (g *GitHub) serveRepos(r *http.Request) answer {
	q := r.URL.Query()
	sort, known := oneOf(q, "sort", "full_name", "created", "updated", "pushed")
	direction, directed := oneOf(q, "direction", "asc", "desc")
	if !known || !directed {
		return invalid("sort")
	}
	all := slices.DeleteFunc(slices.Clone(g.repos), func(x *repo) bool { return !g.sees(r, x) })
	by := func(x *repo) time.Time {
		return map[string]time.Time{"created": x.created, "updated": x.updated, "pushed": x.pushed}[sort]
	}
	all = sorted(all, by, func(x *repo) int64 { return x.id }, direction == "asc")
	return g.tellHoles(list(g, r, all, g.repoObject))
}

func (g *GitHub) serveStars(r *http.Request) answer {
	q := r.URL.Query()
	_, known := oneOf(q, "sort", "created", "updated")
	direction, directed := oneOf(q, "direction", "desc", "asc")
	if !known || !directed {
		return invalid("sort")
	}
	all := slices.DeleteFunc(slices.Clone(g.stars), func(s *star) bool { return s.gone })
	all = sorted(all, func(s *star) time.Time { return s.at }, func(s *star) int64 { return s.id }, direction == "asc")
	return list(g, r, all, func(s *star) object {
		out := g.starObject(s)
		if r.Header.Get("Accept") == "application/vnd.github.star+json" {
			return out
		}
		bare, _ := out["repo"].(object)
		return bare
	})
}

// serveIssues lists issues and pull requests together.
func (g *GitHub) serveIssues(r *http.Request) answer {
	if refused, lacks := g.lacks(r, ScopeRepo); lacks {
		return refused
	}
	q := r.URL.Query()
	filter, knownFilter := oneOf(q, "filter", "assigned", "created", "mentioned", "subscribed", "repos", "all")
	state, knownState := oneOf(q, "state", "open", "closed", "all")
	sort, knownSort := oneOf(q, "sort", "created", "updated", "comments")
	direction, directed := oneOf(q, "direction", "desc", "asc")
	since, readable := sinceOf(q)
	if !knownFilter || !knownState || !knownSort || !directed || !readable {
		return invalid("issue filter")
	}
	all := slices.DeleteFunc(slices.Clone(g.issues), func(i *issue) bool {
		return !g.sees(r, i.repo) || i.updated.Before(since) ||
			state == "open" && i.closed || state == "closed" && !i.closed ||
			filter == "assigned" && i.id%3 != 0 || filter == "created" && i.author != ownLogin
	})
	by := func(i *issue) time.Time {
		if sort == "updated" {
			return i.updated
		}
		return i.created
	}
	all = sorted(all, by, func(i *issue) int64 { return i.id }, direction == "asc")
	return g.tellHoles(list(g, r, all, func(i *issue) object { return g.issueObject(i, false) }))
}

func (g *GitHub) serveGists(r *http.Request) answer {
	if refused, lacks := g.lacks(r, ScopeGist); lacks {
		return refused
	}
	since, readable := sinceOf(r.URL.Query())
	if !readable {
		return invalid("since")
	}
	all := slices.DeleteFunc(slices.Clone(g.gists), func(x *gist) bool {
		return x.deleted || x.updated.Before(since) || !x.public && !g.may(r, ScopeGist)
	})
	all = sorted(all, func(x *gist) time.Time { return x.updated }, func(x *gist) int64 { return x.created.Unix() }, false)
	return list(g, r, all, g.gistObject)
}

const (
	maxEvents = 300
	eventAge  = 90 * 24 * time.Hour
)

// serveEvents shows the newest events, and no more than are kept.
func (g *GitHub) serveEvents(r *http.Request) answer {
	if r.PathValue("login") != ownLogin {
		return notFound()
	}
	kept := g.keptEvents()
	slices.Reverse(kept)
	if page, size := g.pageOf(r.URL.Query()); (page-1)*size >= maxEvents {
		return refuse(http.StatusUnprocessableEntity, "In order to keep the API fast for everyone, pagination is limited for this resource.", docsRest)
	}
	return list(g, r, kept, g.eventObject).with("X-Poll-Interval", "60")
}

// keptEvents are those that GitHub still shows, oldest first.
func (g *GitHub) keptEvents() []event {
	kept := slices.Clone(g.events[max(0, len(g.events)-maxEvents):])
	return slices.DeleteFunc(kept, func(e event) bool { return g.clock.Sub(e.at) > eventAge })
}
