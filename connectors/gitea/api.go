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

const (
	// perPage is what a server gives at most unless its owner has changed that; then it gives less
	// than was asked for.
	perPage = 50
	// overlap is how far back a walk begins before the one that it follows: what was being written
	// then bears a time from before it could be seen.
	overlap = time.Minute
)

// api makes requests. None of its methods waits or retries.
type api struct {
	client *governhttp.Client

	me     wireUser   // whose token it is; empty until asked
	mine   []wireRepo // their repositories, as far as they could be read; nil until asked
	unread int        // how many could not
}

// know finds out whose token it is, once in a run.
func (a *api) know(ctx context.Context) error {
	if a.me.ID > 0 {
		return nil
	}
	resp, err := a.client.Get(ctx, "/user", nil)
	if err != nil {
		return err
	}
	var me wireUser
	if json.Unmarshal(resp.Body, &me) != nil || me.ID <= 0 {
		return connectorkit.Fail(connectorkit.Malformed, errForm)
	}
	a.me = me
	return nil
}

// account tells people apart, so that the bookmark of one is not read for another.
func (a *api) account() string { return number(a.me.ID) }

// list is one page of a list.
type list struct {
	rows []jsontext.Value
	// total is how many things there are on all pages; negative when the server does not tell.
	total int
	// before is a time by the server's clock before which everything is in what it answers; empty
	// when the server does not tell the time.
	before string
}

// list asks for one page; its things stay raw, so that a malformed one spoils itself alone.
func (a *api) list(ctx context.Context, path string, query url.Values, page, limit int) (list, error) {
	query.Set("page", strconv.Itoa(page))
	query.Set("limit", strconv.Itoa(limit))
	resp, err := a.client.Get(ctx, path, query)
	if err != nil {
		return list{}, err
	}
	out := list{total: -1}
	if json.Unmarshal(resp.Body, &out.rows) != nil || out.rows == nil {
		return list{}, connectorkit.Fail(connectorkit.Malformed, errForm)
	}
	if n, err := strconv.Atoi(resp.Header.Get("X-Total-Count")); err == nil && n >= 0 {
		out.total = n
	}
	if now, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		out.before = now.Add(-overlap).UTC().Format(time.RFC3339)
	}
	return out, nil
}

// last tells whether nothing follows a page, of a list of which so many were seen with it. A total
// may count what the person may not see; then an empty page ends the list.
func (l list) last(seen int) bool { return len(l.rows) == 0 || l.total >= 0 && seen >= l.total }

// repositories are those of the person, asked for once in a run.
func (a *api) repositories(ctx context.Context) ([]wireRepo, error) {
	if a.mine != nil {
		return a.mine, nil
	}
	all, have, unread := []wireRepo{}, map[int64]bool{}, 0
	for page, seen := 1, 0; ; page++ {
		got, err := a.list(ctx, "/user/repos", url.Values{}, page, perPage)
		if err != nil {
			return nil, err
		}
		for _, raw := range got.rows {
			var r wireRepo
			switch {
			case json.Unmarshal(raw, &r) != nil || r.ID <= 0 || r.path() == "":
				unread++
			case !have[r.ID]:
				have[r.ID] = true
				all = append(all, r)
			}
		}
		if seen += len(got.rows); got.last(seen) {
			a.mine, a.unread = all, unread
			return all, nil
		}
	}
}

// user is the person.
func (a *api) user(ctx context.Context, _ connectorkit.Cursor) (connectorkit.Page, error) {
	if err := a.know(ctx); err != nil {
		return connectorkit.Page{}, err
	}
	return connectorkit.Page{Records: []connectorkit.Record{connectorkit.Upsert(a.me.record())}, Next: connectorkit.Cursor{"id": a.account()}}, nil
}
