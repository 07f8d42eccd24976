package github

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// search lists the account's own pull requests, newest first by their last
// update. A query leads no further than its first thousand results: where they
// end, the next query begins, bounded by the day of the last one seen. Days are
// as precise as a query can be, so what it repeats is left out here.
//
// The lane takes no census and is never compared with the store: a search leaves out what is not indexed, and an id
// leads to no address of a pull request, so that absence proves no deletion.
type search struct {
	api     *api
	profile *profile
	counted func(stream, route, member string, announced, counted int64)
}

// position is where a walk stands between two pages; it is the list's page token.
type position struct {
	Next  string    `json:"next,omitzero"`  // page of the same query; empty begins a new one
	Seen  int       `json:"seen,omitzero"`  // results of the query so far
	Start time.Time `json:"start,omitzero"` // where the query began
	Last  time.Time `json:"last,omitzero"`  // last one seen: newer ones were read before
}

func (s *search) page(ctx context.Context, w connectorkit.Window) (connectorkit.ListPage, error) {
	at := position{Start: w.Before, Last: w.Before}
	if w.Token != "" {
		if err := json.Unmarshal([]byte(w.Token), &at); err != nil {
			return connectorkit.ListPage{}, connectorkit.Fail(connectorkit.Malformed, err)
		}
	}
	request := at.Next
	if request == "" {
		login, err := s.profile.login(ctx)
		if err != nil {
			return connectorkit.ListPage{}, err
		}
		request = target("search/issues", "q", query(login, w.After, at.Start), "sort", "updated", "order", "desc", "per_page", pageSize)
	}
	resp, err := s.api.get(ctx, request, "", nil)
	if err != nil {
		return connectorkit.ListPage{}, err
	}
	var found struct {
		Total int              `json:"total_count"`
		Items []jsontext.Value `json:"items"`
	}
	if err := json.Unmarshal(resp.Body, &found); err != nil {
		return connectorkit.ListPage{}, connectorkit.Fail(connectorkit.Malformed, err)
	}
	if found.Items == nil {
		return connectorkit.ListPage{}, connectorkit.Fail(connectorkit.Malformed, errFrame)
	}
	var page connectorkit.ListPage
	for _, missing := range resp.absent() {
		page.Items = append(page.Items, connectorkit.Item{Record: missing})
	}
	next := at
	next.Next, next.Seen = resp.next, at.Seen+len(found.Items)
	for _, raw := range found.Items {
		item := pullItem(raw)
		if item.Key != "" {
			if !at.Last.IsZero() && item.Time.After(at.Last) {
				continue // read before: it stands on a page that a change has shifted
			}
			next.Last = item.Time
		}
		page.Items = append(page.Items, item)
	}
	if page.Next, page.Items = next.token(found.Total, page.Items); page.Next == "" {
		s.counted("pull_requests", "GET search/issues", "total_count", int64(found.Total), int64(next.Seen))
	}
	return page, nil
}

// token is how the walk goes on: with the next page, or, where the results end
// before all were seen, with a query that begins at the last one. A day with more
// results than a query gives is left at its end, and what it holds beyond them is
// declared.
func (p position) token(total int, items []connectorkit.Item) (string, []connectorkit.Item) {
	if p.Next == "" {
		if p.Seen >= total || p.Seen == 0 || p.Last.IsZero() { // a number above nothing leads nowhere
			return "", items
		}
		if day(p.Last) == day(p.Start) {
			begin := p.Last.UTC().Truncate(24 * time.Hour)
			items = append(items, connectorkit.Item{Record: connectorkit.Unreadable("pull requests of "+day(p.Last), nil)})
			p.Last = begin.Add(-time.Second)
		}
		p.Start, p.Seen = p.Last, 0
	}
	token, err := json.Marshal(p)
	if err != nil {
		return "", items
	}
	return string(token), items
}

// query asks for the account's pull requests of a span of days, both inclusive.
func query(login string, after, before time.Time) string {
	q := "type:pr author:" + login
	switch {
	case !after.IsZero() && !before.IsZero():
		q += " updated:" + day(after) + ".." + day(before)
	case !after.IsZero():
		q += " updated:>=" + day(after)
	case !before.IsZero():
		q += " updated:<=" + day(before)
	}
	return q
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// locator is what leads from a row to its detail.
type locator struct {
	Repository string `json:"repository"`
	Number     int64  `json:"number"`
}

// pullItem is a pull request's place in the list.
func pullItem(raw jsontext.Value) connectorkit.Item {
	row, at, fault := issue(raw)
	if fault != nil {
		return connectorkit.Item{Record: *fault}
	}
	where, err := json.Marshal(locator{row.fullName(), row.Number})
	if err != nil || row.fullName() == "" || row.Number == 0 {
		return connectorkit.Item{Record: unreadable(raw, err)}
	}
	return connectorkit.Item{Key: ident(row.ID), Time: at, Record: connectorkit.Upsert(row.record()), Locator: where}
}

// pullRequest fetches one detail. A renamed repository redirects.
func (a *api) pullRequest(ctx context.Context, item connectorkit.Item) ([]connectorkit.Record, error) {
	var where locator
	err := json.Unmarshal(item.Locator, &where)
	owner, name, found := strings.Cut(where.Repository, "/")
	if err != nil || !found || owner == "" || name == "" || where.Number <= 0 {
		return nil, connectorkit.Fail(connectorkit.Malformed, errNoID)
	}
	path := "repos/" + url.PathEscape(owner) + "/" + url.PathEscape(name) + "/pulls/" + ident(where.Number)
	resp, err := a.get(ctx, path, "", nil)
	if err != nil {
		return nil, err
	}
	detail, err := pullDetail(item.Key, resp.Body)
	if err != nil {
		return nil, connectorkit.Fail(connectorkit.Malformed, err)
	}
	return []connectorkit.Record{connectorkit.Upsert(detail)}, nil
}
