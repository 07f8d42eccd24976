package strava

import (
	"context"
	"errors"
	"net/url"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// pageSize is the largest page that Strava serves.
const pageSize = "200"

// errFrame is an answer that decodes but is not what it should be. To read it as an empty page would be
// to call data complete that is not there.
var errFrame = errors.New("the answer is not a list of activities")

// activities walks the whole list in every run. A bookmark by the start of activities would miss what a
// watch uploads late, what is edited and what is deleted: Strava announces none of it, and the whole list
// of a thousand activities is six requests.
type activities struct {
	client  *governhttp.Client
	athlete string // who is signed in; empty until asked
}

func (l *activities) page(ctx context.Context, v connectorkit.PageRequest) (connectorkit.InventoryPage, error) {
	if l.athlete == "" {
		var me struct {
			ID int64 `json:"id"`
		}
		if err := l.get(ctx, "api/v3/athlete", nil, &me); err != nil {
			return connectorkit.InventoryPage{}, err
		}
		if me.ID == 0 {
			return connectorkit.InventoryPage{}, connectorkit.Fail(connectorkit.Malformed, errFrame)
		}
		l.athlete = strconv.FormatInt(me.ID, 10)
	}
	page, err := strconv.Atoi(v.Token)
	if err != nil {
		page = 1 // the first has no token
	}
	var rows *[]jsontext.Value
	if err := l.get(ctx, "api/v3/athlete/activities", url.Values{"per_page": {pageSize}, "page": {strconv.Itoa(page)}}, &rows); err != nil {
		return connectorkit.InventoryPage{}, err
	}
	if rows == nil {
		return connectorkit.InventoryPage{}, connectorkit.Fail(connectorkit.Malformed, errFrame)
	}
	out := connectorkit.InventoryPage{View: l.athlete}
	for _, raw := range *rows {
		out.Things = append(out.Things, read(raw))
	}
	if len(*rows) > 0 { // a page may be short before the end, which is an empty one
		out.Next = strconv.Itoa(page + 1)
	}
	return out, nil
}

func (l *activities) get(ctx context.Context, path string, q url.Values, into any) error {
	resp, err := l.client.Do(ctx, governhttp.Request{Path: path, Query: q})
	if err != nil {
		return err
	}
	if err := json.Unmarshal(resp.Body, into); err != nil {
		return connectorkit.Fail(connectorkit.Malformed, err)
	}
	return nil
}
