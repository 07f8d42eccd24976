package gitea

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// walkOverlap is how far before the previous walk a walk begins. An item that was being written then has a time from
// before it became visible.
const walkOverlap = time.Minute

// listPage is one page of a list.
type listPage struct {
	rows  []jsontext.Value
	total int // as totalOf
	// before is a server time; everything changed before it is in the answer. It is empty when the server sends no time.
	before string
}

func (l listPage) isLastPage(seen int) bool { return isLastPage(len(l.rows), seen, l.total) }

// fetchListPage requests one page. Its items stay raw, so that a malformed item does not spoil the others.
func (t *repositoryWalker) fetchListPage(ctx context.Context, path string, query url.Values, page, limit int) (listPage,
	error) {
	query.Set("page", strconv.Itoa(page))
	query.Set("limit", strconv.Itoa(limit))
	a, err := t.run.Fetch(ctx, governhttp.Request{Path: path, Query: query})
	if err != nil {
		return listPage{}, err
	}
	out := listPage{total: totalOf(a)}
	if json.Unmarshal(a.Body, &out.rows) != nil || out.rows == nil {
		return listPage{}, connectorkit.Fail(connectorkit.Malformed, errUnexpectedShape)
	}
	if now, err := http.ParseTime(a.Header.Get("Date")); err == nil {
		out.before = now.Add(-walkOverlap).UTC().Format(time.RFC3339)
	}
	return out, nil
}

// utcText is a time of the server's as records have it.
func utcText(text string) string {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}
