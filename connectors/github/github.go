// Package github collects what a person has on GitHub: profile, repositories,
// stars, issues, pull requests with their details, gists and events.
//
//	manifest.json   what it declares: streams, schemas, variables, setup
//	github.go       where the lists are, and how they are requested
//	fields.go       where the members of records come from
//	issues.go       issues, in the order of their last update
//	search.go       pull requests and their details
//	classify.go     what an answer means
package github

import (
	"cmp"
	"context"
	_ "embed"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the GitHub connector.
func Connector() connectorkit.Connector { return rest.MustNew(manifestJSON, source) }

const apiVersion = "2022-11-28"

var source = rest.Source{
	BaseURL: "https://api.github.com",
	QuotaOf: []string{"PDPP_GITHUB_BASE_URL", "GITHUB_PERSONAL_ACCESS_TOKEN"},
	// Every other program of the same person uses the same limit of 5000 requests per hour.
	Pace: func(c *governor.Config) { c.Ceiling = time.Second },
	Client: func(s *connectorkit.Setup, o *governhttp.Options) error {
		o.Classify = new(responseClassifier).classifyResponse
		o.Header = requestHeaders(s.Env("GITHUB_PERSONAL_ACCESS_TOKEN"),
			cmp.Or(s.Env("PDPP_GITHUB_API_VERSION"), apiVersion))
		return nil
	},
	Account: &rest.Lookup{Request: rest.Request{Path: "user"}, Member: "login"},
	// Short lists come first; the details of pull requests, one request each, come last.
	Streams: []rest.Stream{
		{Name: "user", Sync: rest.SingleObject{OfAccount: true},
			Fields: rest.Fields{"id": rest.NumberText("id"), "plan_name": rest.From("plan.name")}},
		// A token without read:user has no private figures.
		{Name: "user_stats", Request: rest.Request{Path: "user"}, Reused: true, Sync: rest.DailySample{},
			Select: func(a *rest.Answer) ([]jsontext.Value, error) { return []jsontext.Value{a.Body}, nil },
			Fields: rest.Fields{"id": rest.Joined(":", rest.NumberText("id"), rest.FromPartition("today")),
				"user_id": rest.NumberText("id"), "observed_on": rest.FromPartition("today")}},
		fullList("repositories", "user/repos", repositoryFields, "public_repos", isOwnPublic, "sort", "pushed",
			"direction", "desc"),
		starred(),
		fullList("gists", "gists", gistFields, "public_gists",
			func(i rest.Item) bool { return i.Is(rest.Match{Path: "public"}) }),
		// GitHub still shows the newest 300 events of 90 days.
		{Name: "events", Request: rest.Request{Path: "users/{login}/events", Query: largestPages()},
			Partitions: rest.OfAccount("login"),
			Pages:      rest.LinkHeader{}, Fields: eventFields, Sync: rest.RecentItems{StopAtKnown: true, Conditional: true}},
		{Name: "issues", Request: rest.Request{Path: "issues", Query: largestPages("filter", "all", "state", "all", "sort",
			"updated", "direction", "asc")}, Pages: rest.LinkHeader{}, Fields: issueFields, Collect: collectIssues,
			Prepare: func(_ context.Context, _ *rest.Run, ask rest.Ask, q *governhttp.Request) error {
				if ask.Since != "" && ask.Page == "" {
					q.Query.Set("since", ask.Since)
				}
				return nil
			}},
		{Name: "pull_requests", Request: rest.Request{Path: "search/issues", Query: largestPages("q", "{query}", "sort",
			"updated", "order", "desc")}, Items: "items", Total: "total_count", Pages: rest.LinkHeader{},
			Fields: issueFields, Collect: collectPullRequests},
	},
}

// largestPages are parameters with the largest page that GitHub serves.
func largestPages(pairs ...string) url.Values {
	q := url.Values{"per_page": {"100"}}
	for i := 0; i+1 < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	return q
}

// requestHeaders are those of every request. Without a User-Agent GitHub refuses it.
func requestHeaders(token, version string) http.Header {
	return http.Header{
		"Authorization": {"Bearer " + token}, "Accept": {"application/vnd.github+json"},
		"X-GitHub-Api-Version": {version}, "User-Agent": {"pdpp-github-connector/1.0"},
	}
}

// fullList is a list in which absence means deletion. It is requested page by page with the page's ETag. An unchanged
// page answers 304, which costs nothing of the primary limit. This also covers descriptions and flags, which no order
// by time would show. The token's scopes limit what it sees; fine-grained tokens do not report theirs. The profile
// counts the items that counts reports, which GitHub does not promise to be exact.
func fullList(stream, path string, fields rest.Fields, total string, counts func(rest.Item) bool,
	pairs ...string) rest.Stream {
	walked := func(r *rest.Run, _ *rest.Answer, items []rest.Item) {
		announced, known := r.AccountNumber(total)
		if !known {
			return
		}
		var listed int64
		for _, item := range items {
			if counts(item) {
				listed++
			}
		}
		r.Setup.CompareCount(stream, "GET user", total, announced, listed)
	}
	return rest.Stream{Name: stream, Request: rest.Request{Path: path, Query: largestPages(pairs...)},
		Pages: rest.LinkHeader{}, Fields: fields, Shared: true,
		Sync: rest.FullList{Conditional: true, Withheld: withheldRecords, Walked: walked,
			View: func(a *rest.Answer) string { return a.Header.Get("X-OAuth-Scopes") }}}
}

// starred are the person's stars. A deleted repository leaves only the star itself.
func starred() rest.Stream {
	s := fullList("starred", "user/starred", starredFields, "", nil, "sort", "created", "direction", "desc")
	s.Header = http.Header{"Accept": {"application/vnd.github.star+json"}}
	return s
}

func isOwnPublic(i rest.Item) bool {
	login, err := i.Run.AccountText(context.Background(), "login")
	return err == nil && i.Is(rest.Match{Path: "private", Values: []string{"false"}}) && i.Text("owner.login") == login
}

// withheldRecords declares the organizations that single sign-on left out of an otherwise complete list, so that it
// does not pass as complete.
func withheldRecords(a *rest.Answer) (records []connectorkit.Record) {
	kind, more, _ := strings.Cut(a.Header.Get("X-GitHub-SSO"), ";")
	if strings.TrimSpace(kind) != "partial-results" {
		return nil
	}
	_, list, _ := strings.Cut(more, "organizations=")
	for id := range strings.SplitSeq(list, ",") {
		records = append(records, connectorkit.Unreadable("organization "+strings.TrimSpace(id), nil))
	}
	return records
}
