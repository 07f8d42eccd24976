package github

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// query is what the simulated search understands: words of the form key:value.
type query struct {
	author           string
	updated, created span
}

// span is a range of days, both inclusive; a zero end is open.
type span struct{ from, to time.Time }

func (s span) holds(t time.Time) bool {
	day := t.Truncate(24 * time.Hour)
	return (s.from.IsZero() || !day.Before(s.from)) && (s.to.IsZero() || !day.After(s.to))
}

func queryOf(text string) (q query, ok bool) {
	for word := range strings.FieldsSeq(text) {
		key, value, _ := strings.Cut(word, ":")
		valid := true
		switch key {
		case "type":
			valid = value == "pr"
		case "author":
			q.author = value
		case "updated":
			q.updated, valid = spanOf(value)
		case "created":
			q.created, valid = spanOf(value)
		default:
			valid = false
		}
		if !valid {
			return q, false
		}
	}
	return q, q.author != ""
}

// spanOf reads >=DAY, <=DAY, DAY..DAY and DAY.
func spanOf(text string) (s span, ok bool) {
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
func (g *GitHub) serveSearch(r *http.Request) answer {
	q := r.URL.Query()
	page, size := g.pageOf(q)
	what, readable := queryOf(q.Get("q"))
	switch {
	case !readable || what.author != ownLogin:
		return refuse(http.StatusUnprocessableEntity, "Validation Failed", docsRest)
	case (page-1)*size >= g.cfg.SearchCap:
		return refuse(http.StatusUnprocessableEntity, "Only the first 1000 search results are available", "https://docs.github.com/v3/search/")
	}
	all := slices.DeleteFunc(slices.Clone(g.issues), func(i *issue) bool {
		return i.pull == nil || i.author != what.author || !g.sees(r, i.repo) ||
			!what.updated.holds(i.updated) || !what.created.holds(i.created)
	})
	all = sorted(all, func(i *issue) time.Time { return i.updated }, func(i *issue) int64 { return i.id }, q.Get("order") == "asc")
	total := len(all)
	a := list(g, r, all[:min(total, g.cfg.SearchCap)], func(i *issue) object { return g.issueObject(i, true) })
	a.value = object{"total_count": total, "incomplete_results": false, "items": a.value}
	return g.tellHoles(a)
}

// servePull is one pull request, by its repository's name or id.
func (g *GitHub) servePull(r *http.Request) answer { return g.serveOne(r, true, g.pullObject) }

func (g *GitHub) serveIssue(r *http.Request) answer {
	return g.serveOne(r, false, func(i *issue) object { return g.issueObject(i, false) })
}

func (g *GitHub) serveOne(r *http.Request, pull bool, render func(*issue) object) answer {
	full := r.PathValue("owner") + "/" + r.PathValue("repo")
	for _, x := range g.repos {
		byID := r.PathValue("id") == strconv.FormatInt(x.id, 10)
		switch {
		case x.former == full:
			to := "http://" + r.Host + "/repositories/" + strconv.FormatInt(x.id, 10) + r.URL.Path[len("/repos/"+full):]
			return refuse(http.StatusMovedPermanently, "Moved Permanently", docsRest).with("Location", to)
		case x.fullName() != full && !byID:
			continue
		case x.blocked:
			return refuse(http.StatusUnavailableForLegalReasons, "Repository access blocked", docsRest)
		case g.access.sso == "required" && x.owner == orgLogin:
			return refuse(http.StatusForbidden, "Resource protected by organization SAML enforcement. You must grant your Personal Access token access to this organization.",
				docsRest).with("X-GitHub-SSO", "required; url=https://github.com/orgs/"+orgLogin+"/sso?authorization_request=A1")
		case x.deleted || x.private && !g.may(r, ScopeRepo) && !g.cfg.FineGrained:
			return notFound()
		}
		if refused, lacks := g.lacks(r, ScopeRepo); lacks {
			return refused
		}
		return g.within(x, r.PathValue("number"), pull, render)
	}
	return notFound()
}

func (g *GitHub) within(x *repo, number string, pull bool, render func(*issue) object) answer {
	for _, i := range g.issues {
		if i.repo != x || strconv.FormatInt(i.number, 10) != number || pull && i.pull == nil {
			continue
		}
		switch i.refusal {
		case http.StatusGone:
			return refuse(http.StatusGone, "This issue was deleted", docsRest)
		case http.StatusNotFound:
			return notFound()
		}
		return ok(render(i))
	}
	return notFound()
}
