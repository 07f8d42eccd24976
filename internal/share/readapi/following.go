package readapi

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/share/readapi/grantview"
)

// Following is a list of changes that this server reads to deliver it.
type Following struct {
	Stream       string
	ConnectionID string // the only one; empty for all
	Since        string // the cursor; empty for everything
	Limit        int
}

// Follow returns a page of changes, as GET /v1/streams/{stream}/records returns it to the reader. The limits of a grant
// apply.
func (a *API) Follow(ctx context.Context, who grants.Access, f Following) (page grantview.ChangePage, err error) {
	query := url.Values{"changes_since": {cmp.Or(f.Since, beginning)}, "limit": {strconv.Itoa(f.Limit)}}
	if f.ConnectionID != "" {
		query.Set("connection_id", f.ConnectionID)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "/?"+query.Encode(), nil)
	if err != nil {
		return page, err
	}
	r.SetPathValue("stream", f.Stream)
	read := func(r *http.Request) (any, error) { return a.records(r, who) }
	var answer any
	if who.Grant() == nil {
		answer, err = read(r)
	} else {
		answer, err = a.bounded(r, a.limits.remember("followed for "+who.ID()), read)
	}
	if err == nil {
		page, _ = answer.(grantview.ChangePage)
	}
	return page, err
}

// EndOf returns the cursor behind all present changes of a stream.
func (a *API) EndOf(ctx context.Context, who grants.Access, f Following) (cursor string, err error) {
	views, err := a.Grants.Views(ctx, who, f.Stream, f.ConnectionID)
	if err != nil {
		return "", err
	}
	places := map[string]place{}
	for i := range views {
		streams, err := a.Store.Streams(ctx, views[i].ConnectionID())
		if err != nil {
			return "", fmt.Errorf("find the end of a stream: %w", err)
		}
		for _, s := range streams {
			if s.Name == f.Stream {
				places[s.ConnectionID] = place{After: s.LastSeq, Known: s.LastSeq, Purged: s.PurgedSeq}
			}
		}
	}
	q := query{connection: f.ConnectionID}
	return a.Cursors.Seal("changes", q.context(who, f.Stream), places), nil
}
