// Package gitea collects what a person has on a server of Gitea or Forgejo: profile, repositories,
// stars, issues, pull requests and comments.
//
//	manifest.json   what it declares: streams, schemas, variables, setup
//	gitea.go        where the lists are, and how the server refuses
//	fields.go       where the members of records come from
//	walk.go         issues, pull requests and comments, repository by repository
//	openedsearch.go what the person opened in other people's repositories
package gitea

import (
	_ "embed"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the connector of Gitea and Forgejo.
func Connector() connectorkit.Connector { return rest.MustNew(manifestJSON, source) }

var errUnexpectedShape = errors.New("the answer does not come from a Gitea or Forgejo server")

var source = rest.Source{
	Base:    rest.ServerURL("GITEA_URL", "/api/v1"),
	QuotaOf: []string{"GITEA_URL", "GITEA_TOKEN"},
	Client: func(s *connectorkit.Setup, o *governhttp.Options) error {
		o.Header = http.Header{"Authorization": {"token " + strings.TrimSpace(s.Env("GITEA_TOKEN"))},
			"Accept": {"application/json"}, "User-Agent": {"pdpp-gitea-connector/1.0"}}
		return nil
	},
	Inspect: func(r *governhttp.Response) error {
		if r.Status == http.StatusOK && !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
			return connectorkit.Fail(connectorkit.Malformed, errUnexpectedShape)
		}
		return nil
	},
	Errors: []rest.ErrorRule{{Status: http.StatusForbidden, Contains: []string{`"message"`, "scope"},
		Class: connectorkit.Forbidden,
		Message: "The token lacks a permission. On the server open Settings, Applications, make a token with Read " +
			"for issue, repository and user, and connect again with it."}},
	Account: &rest.Lookup{Request: rest.Request{Path: "user"}, Member: "id"},
	Streams: []rest.Stream{
		{Name: "user", Sync: rest.SingleObject{OfAccount: true}, Fields: userFields, OmitEmpty: true},
		{Name: "repositories", Request: rest.Request{Path: "user/repos"}, Pages: countedPages{}, Shared: true,
			Fields: repositoryFields, OmitEmpty: true, Sync: rest.FullList{Digest: true, Total: totalOf}},
		// The server has no time for a star.
		{Name: "starred", Request: rest.Request{Path: "user/starred"}, Pages: countedPages{}, Fields: starredFields,
			OmitEmpty: true, Sync: rest.FullList{Digest: true, Total: totalOf}},
		{Name: "issues", Fields: issueFields, OmitEmpty: true, Collect: issueKind.collect},
		{Name: "pulls", Fields: pullFields, OmitEmpty: true, Collect: pullRequestKind.collect},
		{Name: "comments", Fields: commentFields, OmitEmpty: true, Collect: commentKind.collect},
	},
}

// defaultPageSize is the server's usual maximum. A server with a smaller maximum returns fewer rows than requested.
const defaultPageSize = 50

// countedPages counts pages and items. A total may include items that the person may not see; then an empty page ends
// the list.
type countedPages struct{}

// SetPage implements rest.Pager. A token is the number of the page and the number of items before it.
func (countedPages) SetPage(q *governhttp.Request, token string) error {
	page, _, _ := strings.Cut(token, " ")
	if page == "" {
		page = "1"
	}
	q.Query.Set("page", page)
	q.Query.Set("limit", strconv.Itoa(defaultPageSize))
	return nil
}

// NextPage implements rest.Pager.
func (countedPages) NextPage(a *rest.Answer, p rest.PageOutcome) (string, error) {
	page, before, _ := strings.Cut(p.Token, " ")
	number, _ := strconv.Atoi(page) // the first page has none
	seen, _ := strconv.Atoi(before)
	seen += len(p.Items)
	if isLastPage(len(p.Items), seen, totalOf(a)) {
		return "", nil
	}
	return strconv.Itoa(max(number, 1)+1) + " " + strconv.Itoa(seen), nil
}

// totalOf is the number of items on all pages; negative when the server does not report it.
func totalOf(a *rest.Answer) int {
	if n, err := strconv.Atoi(a.Header.Get("X-Total-Count")); err == nil && n >= 0 {
		return n
	}
	return -1
}

// isLastPage reports whether a page with some rows is the last one, after seen items.
func isLastPage(rows, seen, total int) bool { return rows == 0 || total >= 0 && seen >= total }
