package github

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/providersim/rest"
)

// allOperations are the mutations of the control port.
func (g *GitHub) allOperations() map[string]func() string {
	repository := func(busy bool, edit func(*simRepository)) func() string {
		return change(g, &g.repos, func(r *simRepository) bool { return !r.deleted && r.busy == busy },
			func(r *simRepository) string { edit(r); return formatID(r.id) })
	}
	star := func(edit func(*starredRepo)) func() string {
		return change(g, &g.stars, func(s *starredRepo) bool { return !s.gone && !s.stub },
			func(s *starredRepo) string { edit(s); return formatID(s.id) })
	}
	issue := func(pulls bool, edit func(*simIssue)) func() string {
		return change(g, &g.issues, func(i *simIssue) bool { return i.refusal == 0 && (i.pull != nil) == pulls },
			func(i *simIssue) string { edit(i); return formatID(i.id) })
	}
	return map[string]func() string{
		"add_repositories":  func() string { return formatID(g.addRepository().id) },
		"push_repositories": repository(false, func(r *simRepository) { r.pushed, r.updated = g.Clock(), g.Clock() }),
		"edit_repositories": repository(false, func(r *simRepository) {
			r.revision++
			r.archived, r.updated = true, g.Clock()
		}),
		"delete_repositories": repository(false, func(r *simRepository) { r.deleted = true }),
		"rename_repositories": repository(true, func(r *simRepository) { // the old names redirect
			r.former, r.name, r.updated = r.qualifiedName(), r.name+"-renamed", g.Clock()
		}),
		"block_repositories": repository(true, func(r *simRepository) { r.blocked = true }),
		"add_stars":          func() string { return formatID(g.addStarred().id) },
		"unstar":             star(func(s *starredRepo) { s.gone = true }),
		"stub_stars":         star(func(s *starredRepo) { s.stub = true }),
		"add_issues":         func() string { return formatID(g.generateIssue(false).id) },
		"touch_issues":       issue(false, g.markUpdated),
		// As the owner of a repository can; they no longer appear anywhere.
		"delete_issues": issue(false, func(gone *simIssue) {
			g.issues = slices.DeleteFunc(slices.Clone(g.issues), func(i *simIssue) bool { return i == gone })
		}),
		"add_pulls":    func() string { return formatID(g.generateIssue(true).id) },
		"touch_pulls":  issue(true, g.markUpdated),
		"hide_pulls":   issue(true, func(i *simIssue) { i.refusal = http.StatusNotFound }),
		"delete_pulls": issue(true, func(i *simIssue) { i.refusal = http.StatusGone }),
		"add_gists":    func() string { return g.generateGist().id },
		"delete_gists": change(g, &g.gists, func(x *simGist) bool { return !x.deleted },
			func(x *simGist) string { x.deleted = true; return x.id }),
		"add_events": func() string { g.advanceClock(time.Second); g.generateEvent(); return "" },
		"edit_profile": func() string {
			g.user.revision++
			g.user.updated = g.Clock()
			return formatID(ownUserID)
		},
	}
}

// change returns an operation that edits a random item of a list that fits.
func change[T any](g *GitHub, from *[]*T, fits func(*T) bool, edit func(*T) string) func() string {
	return rest.Edit(g.Service, func() []*T { return *from }, fits, edit)
}

// changeBetweenPages changes something after a page of a list, while the drift lasts: what the client has not read yet
// shifts under it.
func (g *GitHub) changeBetweenPages(r *http.Request) {
	operation := map[string]string{
		"/user/repos": "push_repositories", "/user/starred": "add_stars", "/issues": "touch_issues",
		"/search/issues": "touch_pulls", "/gists": "add_gists",
	}[r.URL.Path]
	if g.drift == 0 || operation == "" {
		return
	}
	g.drift--
	g.advanceClock(time.Second)
	for range 2 {
		g.Operations[operation]()
	}
}

func (g *GitHub) markUpdated(i *simIssue) {
	i.revision++
	i.updated, i.closed = g.Clock(), !i.closed
	if i.pull != nil {
		i.pull.merged = i.closed
	}
}

func formatID(id int64) string { return strconv.FormatInt(id, 10) }

// Streams of the ground truth.
const (
	StreamUser         = "user"
	StreamUserStats    = "user_stats"
	StreamRepositories = "repositories"
	StreamStarred      = "starred"
	StreamIssues       = "issues"
	StreamPulls        = "pull_requests"
	StreamPullDetails  = "pull_request_details"
	StreamGists        = "gists"
	StreamEvents       = "events"
)

// truth adds everything that exists now, including what a token may not see. A pull request's detail has the key of its
// list row, and list_id names it. Unstarred and deleted objects stay as tombstones. Events that GitHub no longer shows
// stay, because a connector may have read them.
func (g *GitHub) truth(add rest.AddTruth) {
	add(StreamUser, formatID(ownUserID), g.userObject(), false)
	day := g.providerTime().UTC().Format(time.DateOnly)
	figures := g.figures[day] // who has read them has those
	if figures == nil {
		figures = g.userObject()
	}
	add(StreamUserStats, fmt.Sprintf("%d:%s", int64(ownUserID), day), figures, false)
	for _, r := range g.repos {
		add(StreamRepositories, formatID(r.id), g.repoObject(r), r.deleted)
	}
	for _, s := range g.stars {
		if !s.stub {
			add(StreamStarred, formatID(s.id), g.starObject(s), s.gone)
		}
	}
	for _, i := range g.issues {
		add(StreamIssues, formatID(i.id), g.issueObject(i, false), false)
		if i.pull == nil || i.author != ownUserLogin {
			continue
		}
		if add(StreamPulls, formatID(i.id), g.issueObject(i, true), false); i.refusal == 0 {
			detail := g.pullObject(i)
			detail["list_id"] = i.id
			add(StreamPullDetails, formatID(i.id), detail, false)
		}
	}
	for _, x := range g.gists {
		add(StreamGists, x.id, g.gistObject(x), x.deleted)
	}
	for _, e := range g.events {
		add(StreamEvents, fmt.Sprint(e.id), g.eventObject(e), false)
	}
}
