package github

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/providersim/rest"
)

// searchQuery is the query syntax of the simulated search: terms of the form key:value.
type searchQuery struct {
	author           string
	updated, created dayRange
}

// dayRange is a range of days, both inclusive; a zero end is open.
type dayRange struct{ from, to time.Time }

func (s dayRange) contains(t time.Time) bool {
	day := t.Truncate(24 * time.Hour)
	return (s.from.IsZero() || !day.Before(s.from)) && (s.to.IsZero() || !day.After(s.to))
}

func parseSearchQuery(text string) (q searchQuery, ok bool) {
	for word := range strings.FieldsSeq(text) {
		key, value, _ := strings.Cut(word, ":")
		valid := true
		switch key {
		case "type":
			valid = value == "pr"
		case "author":
			q.author = value
		case "updated":
			q.updated, valid = parseDayRange(value)
		case "created":
			q.created, valid = parseDayRange(value)
		default:
			valid = false
		}
		if !valid {
			return q, false
		}
	}
	return q, q.author != ""
}

// parseDayRange reads >=DAY, <=DAY, DAY..DAY and DAY.
func parseDayRange(text string) (s dayRange, ok bool) {
	from, to := text, text
	switch {
	case strings.HasPrefix(text, ">="):
		from, to = text[2:], ""
	case strings.HasPrefix(text, "<="):
		from, to = "", text[2:]
	case strings.Contains(text, ".."):
		from, to, _ = strings.Cut(text, "..")
	}
	for _, end := range []struct {
		text string
		into *time.Time
	}{{from, &s.from}, {to, &s.to}} {
		if end.text == "" {
			continue
		}
		day, err := time.Parse(time.DateOnly, end.text)
		if err != nil {
			return s, false
		}
		*end.into = day
	}
	return s, true
}

// serveSearch finds pull requests, newest first by their last update. A query
// leads no further than the first SearchCap results, and the Link just ends.
func (g *GitHub) serveSearch(r *http.Request) rest.Answer {
	q := r.URL.Query()
	what, readable := parseSearchQuery(q.Get("q"))
	switch {
	case !readable || what.author != ownUserLogin:
		return apiError(http.StatusUnprocessableEntity, "Validation Failed", restDocsURL)
	case g.pageOffset(r) >= g.cfg.SearchCap:
		return apiError(http.StatusUnprocessableEntity, "Only the first 1000 search results are available",
			"https://docs.github.com/v3/search/")
	}
	all := slices.DeleteFunc(slices.Clone(g.issues), func(i *simIssue) bool {
		return i.pull == nil || i.author != what.author || !g.showsRepository(r, i.repo) ||
			!what.updated.contains(i.updated) || !what.created.contains(i.created)
	})
	all = sortedByTime(all, func(i *simIssue) time.Time { return i.updated }, func(i *simIssue) int64 { return i.id },
		q.Get("order") == "asc")
	total := len(all)
	a := serveListPage(g, r, all[:min(total, g.cfg.SearchCap)],
		func(i *simIssue) jsonObject { return g.issueObject(i, true) })
	a.Body = jsonObject{"total_count": total, "incomplete_results": false, "items": a.Body}
	return g.markWithheld(a)
}

// servePullRequest is one pull request, by its repository's name or id.
func (g *GitHub) servePullRequest(r *http.Request) rest.Answer {
	return g.serveIssueByPath(r, true, g.pullObject)
}

func (g *GitHub) serveIssue(r *http.Request) rest.Answer {
	return g.serveIssueByPath(r, false, func(i *simIssue) jsonObject { return g.issueObject(i, false) })
}

func (g *GitHub) serveIssueByPath(r *http.Request, pull bool, render func(*simIssue) jsonObject) rest.Answer {
	full := r.PathValue("owner") + "/" + r.PathValue("repo")
	for _, x := range g.repos {
		byID := r.PathValue("id") == strconv.FormatInt(x.id, 10)
		switch {
		case x.former == full:
			to := "http://" + r.Host + "/repositories/" + strconv.FormatInt(x.id, 10) + r.URL.Path[len("/repos/"+full):]
			return apiError(http.StatusMovedPermanently, "Moved Permanently", restDocsURL, "Location", to)
		case x.qualifiedName() != full && !byID:
			continue
		case x.blocked:
			return apiError(http.StatusUnavailableForLegalReasons, "Repository access blocked", restDocsURL)
		case g.sso == "required" && x.owner == organizationLogin:
			return apiError(http.StatusForbidden,
				"Resource protected by organization SAML enforcement. You must grant your Personal Access token access to this "+
					"organization.",
				restDocsURL, "X-GitHub-SSO",
				"required; url=https://github.com/orgs/"+organizationLogin+"/sso?authorization_request=A1")
		case x.deleted || x.private && !g.HasScope(r, ScopeRepo) && !g.cfg.FineGrained:
			return g.Refuse(r, rest.NotFound, "")
		}
		if refused, lacks := g.refuseMissingScope(r, ScopeRepo); lacks {
			return refused
		}
		return g.serveIssueOf(r, x, r.PathValue("number"), pull, render)
	}
	return g.Refuse(r, rest.NotFound, "")
}

func (g *GitHub) serveIssueOf(r *http.Request, x *simRepository, number string, pull bool,
	render func(*simIssue) jsonObject) rest.Answer {
	for _, i := range g.issues {
		if i.repo != x || strconv.FormatInt(i.number, 10) != number || pull && i.pull == nil {
			continue
		}
		switch i.refusal {
		case http.StatusGone:
			return apiError(http.StatusGone, "This issue was deleted", restDocsURL)
		case http.StatusNotFound:
			return g.Refuse(r, rest.NotFound, "")
		}
		return rest.OK(render(i))
	}
	return g.Refuse(r, rest.NotFound, "")
}
