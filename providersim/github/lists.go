package github

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/providersim/rest"
)

const defaultPage = 30

// serveListPage answers one page of everything that is there now. Pages are offsets: what changes between two pages
// shifts the second.
func serveListPage[T any](g *GitHub, r *http.Request, all []T, render func(T) jsonObject) rest.Answer {
	return rest.Serve(g.Service, r, rest.Pager{Style: rest.Number, Place: "page", Size: "per_page",
		Usual: defaultPage, Cap: g.cfg.MaxPage, Link: true}, rest.List[T]{All: all, Show: render})
}

// pageOffset is how many rows come before the page that a request asks for.
func (g *GitHub) pageOffset(r *http.Request) int {
	page, _ := rest.NumberParameter(r.URL.Query(), "page", 1)
	size, _ := rest.NumberParameter(r.URL.Query(), "per_page", defaultPage)
	return (page - 1) * min(size, g.cfg.MaxPage)
}

// sortedByTime is a copy in order of time, then of id: newest first unless ascending.
func sortedByTime[T any](all []T, at func(T) time.Time, id func(T) int64, ascending bool) []T {
	return slices.SortedFunc(slices.Values(all), func(a, b T) int {
		if ascending {
			a, b = b, a
		}
		return cmp.Or(at(b).Compare(at(a)), cmp.Compare(id(b), id(a)))
	})
}

// sinceParameter reads since; a time that cannot be read answers 422.
func sinceParameter(q url.Values) (time.Time, bool) {
	if !q.Has("since") {
		return time.Time{}, true
	}
	t, err := time.Parse(time.RFC3339, q.Get("since"))
	return t, err == nil
}

// enumParameter holds a parameter to its documented values; absent is the first.
func enumParameter(q url.Values, name string, values ...string) (string, bool) {
	value := cmp.Or(q.Get(name), values[0])
	return value, slices.Contains(values, value)
}

func (g *GitHub) serveRepos(r *http.Request) rest.Answer {
	q := r.URL.Query()
	sort, known := enumParameter(q, "sort", "full_name", "created", "updated", "pushed")
	direction, directed := enumParameter(q, "direction", "asc", "desc")
	if !known || !directed {
		return g.Refuse(r, rest.BadParameter, "sort")
	}
	all := rest.Filter(g.repos, func(x *simRepository) bool { return g.showsRepository(r, x) })
	by := func(x *simRepository) time.Time {
		return map[string]time.Time{"created": x.created, "updated": x.updated, "pushed": x.pushed}[sort]
	}
	all = sortedByTime(all, by, func(x *simRepository) int64 { return x.id }, direction == "asc")
	return g.markWithheld(serveListPage(g, r, all, g.repoObject))
}

func (g *GitHub) serveStars(r *http.Request) rest.Answer {
	q := r.URL.Query()
	_, known := enumParameter(q, "sort", "created", "updated")
	direction, directed := enumParameter(q, "direction", "desc", "asc")
	if !known || !directed {
		return g.Refuse(r, rest.BadParameter, "sort")
	}
	all := slices.DeleteFunc(slices.Clone(g.stars), func(s *starredRepo) bool { return s.gone })
	all = sortedByTime(all, func(s *starredRepo) time.Time { return s.at }, func(s *starredRepo) int64 { return s.id },
		direction == "asc")
	return serveListPage(g, r, all, func(s *starredRepo) jsonObject {
		out := g.starObject(s)
		if r.Header.Get("Accept") == "application/vnd.github.star+json" {
			return out
		}
		bare, _ := out["repo"].(jsonObject)
		return bare
	})
}

// serveIssues lists issues and pull requests together.
func (g *GitHub) serveIssues(r *http.Request) rest.Answer {
	if refused, lacks := g.refuseMissingScope(r, ScopeRepo); lacks {
		return refused
	}
	q := r.URL.Query()
	filter, knownFilter := enumParameter(q, "filter", "assigned", "created", "mentioned", "subscribed", "repos", "all")
	state, knownState := enumParameter(q, "state", "open", "closed", "all")
	sort, knownSort := enumParameter(q, "sort", "created", "updated", "comments")
	direction, directed := enumParameter(q, "direction", "desc", "asc")
	since, readable := sinceParameter(q)
	if !knownFilter || !knownState || !knownSort || !directed || !readable {
		return g.Refuse(r, rest.BadParameter, "issue filter")
	}
	all := slices.DeleteFunc(slices.Clone(g.issues), func(i *simIssue) bool {
		return !g.showsRepository(r, i.repo) || i.updated.Before(since) ||
			state == "open" && i.closed || state == "closed" && !i.closed ||
			filter == "assigned" && i.id%3 != 0 || filter == "created" && i.author != ownUserLogin
	})
	by := func(i *simIssue) time.Time {
		if sort == "updated" {
			return i.updated
		}
		return i.created
	}
	all = sortedByTime(all, by, func(i *simIssue) int64 { return i.id }, direction == "asc")
	return g.markWithheld(serveListPage(g, r, all, func(i *simIssue) jsonObject { return g.issueObject(i, false) }))
}

func (g *GitHub) serveGists(r *http.Request) rest.Answer {
	if refused, lacks := g.refuseMissingScope(r, ScopeGist); lacks {
		return refused
	}
	since, readable := sinceParameter(r.URL.Query())
	if !readable {
		return g.Refuse(r, rest.BadParameter, "since")
	}
	all := slices.DeleteFunc(slices.Clone(g.gists), func(x *simGist) bool {
		return x.deleted || x.updated.Before(since) || !x.public && !g.HasScope(r, ScopeGist)
	})
	all = sortedByTime(all, func(x *simGist) time.Time { return x.updated },
		func(x *simGist) int64 { return x.created.Unix() }, false)
	return serveListPage(g, r, all, g.gistObject)
}

const (
	maxListedEvents = 300
	maxEventAge     = 90 * 24 * time.Hour
)

// serveEvents serves the newest events, up to the retention limit.
func (g *GitHub) serveEvents(r *http.Request) rest.Answer {
	if r.PathValue("login") != ownUserLogin {
		return g.Refuse(r, rest.NotFound, "")
	}
	kept := g.keptEvents()
	slices.Reverse(kept)
	if g.pageOffset(r) >= maxListedEvents {
		return apiError(http.StatusUnprocessableEntity,
			"In order to keep the API fast for everyone, pagination is limited for this resource.", restDocsURL)
	}
	a := serveListPage(g, r, kept, g.eventObject)
	a.Header.Set("X-Poll-Interval", "60")
	return a
}

// keptEvents are those that GitHub still shows, oldest first.
func (g *GitHub) keptEvents() []simEvent {
	kept := slices.Clone(g.events[max(0, len(g.events)-maxListedEvents):])
	return slices.DeleteFunc(kept, func(e simEvent) bool { return g.Clock().Sub(e.at) > maxEventAge })
}
