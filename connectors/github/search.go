package github

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// pullSearch lists the account's own pull requests, newest first by their last update. A query returns at most its
// first thousand results; the next query begins there, bounded by the day of the last result. Days are the finest
// bound, so repeated results are skipped here.
//
// The lane takes no full scan and is never compared with the store: a search omits what is not indexed, and an id
// leads to no address of a pull request. So absence proves no deletion.
type pullSearch struct{ run *rest.Run }

func collectPullRequests(r *rest.Run) connectorkit.Collector {
	s := &pullSearch{r}
	return connectorkit.ListDetail{List: "pull_requests", Detail: "pull_request_details", ListPage: s.fetchListPage,
		Fetch: s.fetchDetail}
}

// searchPosition is the position of a walk between two pages; it is the list's page token.
type searchPosition struct {
	Next  string    `json:"next,omitzero"`  // page of the same query; empty begins a new one
	Seen  int       `json:"seen,omitzero"`  // results of the query so far
	Start time.Time `json:"start,omitzero"` // where the query began
	Last  time.Time `json:"last,omitzero"`  // last one seen: newer ones were read before
}

func (s *pullSearch) fetchListPage(ctx context.Context, w connectorkit.Window) (connectorkit.ListPage, error) {
	at := searchPosition{Start: w.Before, Last: w.Before}
	if w.Token != "" {
		if err := json.Unmarshal([]byte(w.Token), &at); err != nil {
			return connectorkit.ListPage{}, connectorkit.Fail(connectorkit.Malformed, err)
		}
	}
	login, err := s.run.Account(ctx)
	if err != nil {
		return connectorkit.ListPage{}, err
	}
	query := searchQuery(url.PathEscape(login), w.After, at.Start)
	found, err := s.run.ReadPage(ctx, "pull_requests", rest.Ask{Page: at.Next,
		Partition: rest.Partition{Values: map[string]string{"query": query}}})
	if err != nil {
		return connectorkit.ListPage{}, err
	}
	var page connectorkit.ListPage
	for _, missing := range withheldRecords(found.Answer) {
		page.Items = append(page.Items, connectorkit.Item{Record: missing})
	}
	next := at
	next.Next, next.Seen = found.Next, at.Seen+len(found.Items)
	for _, raw := range found.Items {
		item := pullRequestItem(raw)
		if item.Key != "" {
			if !at.Last.IsZero() && item.Time.After(at.Last) {
				continue // read before: a change has shifted it to this page
			}
			next.Last = item.Time
		}
		page.Items = append(page.Items, item)
	}
	if page.Next, page.Items = next.nextToken(found.Total, page.Items); page.Next == "" {
		s.run.Setup.CompareCount("pull_requests", "GET search/issues", "total_count", int64(found.Total),
			int64(next.Seen))
	}
	return page, nil
}

// nextToken returns the token of the next page. Where the results end before all were seen, it starts a new query at
// the last one. For a day with more results than a query returns, the unreachable ones are declared.
func (p searchPosition) nextToken(total int, items []connectorkit.Item) (string, []connectorkit.Item) {
	if p.Next == "" {
		if p.Seen >= total || p.Seen == 0 || p.Last.IsZero() { // a number above nothing leads nowhere
			return "", items
		}
		if formatDay(p.Last) == formatDay(p.Start) {
			begin := p.Last.UTC().Truncate(24 * time.Hour)
			items = append(items, connectorkit.Item{Record: connectorkit.Unreadable("pull requests of "+formatDay(p.Last), nil)})
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

// searchQuery asks for the account's pull requests of a span of days, both inclusive.
func searchQuery(login string, after, before time.Time) string {
	q := "type:pr author:" + login
	switch {
	case !after.IsZero() && !before.IsZero():
		q += " updated:" + formatDay(after) + ".." + formatDay(before)
	case !after.IsZero():
		q += " updated:>=" + formatDay(after)
	case !before.IsZero():
		q += " updated:<=" + formatDay(before)
	}
	return q
}

func formatDay(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// pullLocator is what leads from a row to its detail.
type pullLocator struct {
	Repository string `json:"repository"`
	Number     int64  `json:"number"`
}

var (
	readPull   = rest.Reader(manifestJSON, rest.Stream{Name: "pull_requests", Fields: issueFields})
	readDetail = rest.Reader(manifestJSON, rest.Stream{Name: "pull_request_details", Fields: detailFields})
)

// pullRequestItem is a pull request's place in the list.
func pullRequestItem(raw jsontext.Value) connectorkit.Item {
	item := rest.Item{Raw: raw}
	row := readPull(item)
	if row.Key == "" {
		return connectorkit.Item{Record: row.Record}
	}
	number, _ := strconv.ParseInt(item.Text("number"), 10, 64) // zero if there is none
	where, err := json.Marshal(pullLocator{repositoryName(item), number})
	at, badTime := time.Parse(time.RFC3339, item.Text("updated_at"))
	if err != nil || badTime != nil || repositoryName(item) == "" || number == 0 {
		return connectorkit.Item{Record: connectorkit.Unreadable(row.Key, err)}
	}
	return connectorkit.Item{Key: row.Key, Time: at, Record: row.Record, Locator: where}
}

var errNoPullRequest = errors.New("the answer is not a pull request")

// fetchDetail fetches one detail. A renamed repository redirects.
func (s *pullSearch) fetchDetail(ctx context.Context, item connectorkit.Item) ([]connectorkit.Record, error) {
	var where pullLocator
	err := json.Unmarshal(item.Locator, &where)
	owner, name, found := strings.Cut(where.Repository, "/")
	if err != nil || !found || owner == "" || name == "" || where.Number <= 0 {
		return nil, connectorkit.Fail(connectorkit.Malformed, errNoPullRequest)
	}
	path := "repos/" + url.PathEscape(owner) + "/" + url.PathEscape(name) + "/pulls/" +
		strconv.FormatInt(where.Number, 10)
	a, err := s.run.Fetch(ctx, governhttp.Request{Path: path})
	if err != nil {
		return nil, err
	}
	detail := rest.Item{Raw: a.Body, Partition: rest.Partition{Values: map[string]string{"key": item.Key}}}
	row := readDetail(detail)
	if id := detail.Text("id"); row.Key == "" || id == "" || id == "0" {
		return nil, connectorkit.Fail(connectorkit.Malformed, errNoPullRequest)
	}
	return []connectorkit.Record{row.Record}, nil
}
