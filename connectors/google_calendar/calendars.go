package googlecalendar

import (
	"context"
	"errors"
	"net/url"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// errFrame is an answer that decodes but is not what it should be. To read it as an empty list would be
// to call data complete that is not there.
var errFrame = errors.New("the answer has not the list that was asked for")

// maxPages bounds the parts in which Google gives the list of calendars.
const maxPages = 1000

// api makes requests. None of its methods waits or retries.
type api struct {
	client *governhttp.Client
	draw   func(ctx context.Context, account string) error // says whose allowance it is
	// the person's own calendar, named after them; empty until asked
	me    string
	rows  []jsontext.Value
	whole bool // rows are all calendars of the list
}

func (a *api) get(ctx context.Context, path string, q url.Values, into any) error {
	resp, err := a.client.Do(ctx, governhttp.Request{Path: path, Query: q})
	if err != nil {
		return err
	}
	if err := json.Unmarshal(resp.Body, into); err != nil {
		return connectorkit.Fail(connectorkit.Malformed, err)
	}
	return nil
}

// account is whose sign-in it is, asked for once in a run. What another person does not have says nothing about
// this one.
func (a *api) account(ctx context.Context) (string, error) {
	if a.me != "" {
		return a.me, nil
	}
	var wire struct {
		ID string `json:"id"`
	}
	if err := a.get(ctx, "calendars/primary", nil, &wire); err != nil {
		return "", err
	}
	if wire.ID == "" {
		return "", connectorkit.Fail(connectorkit.Malformed, errFrame)
	}
	if err := a.draw(ctx, wire.ID); err != nil {
		return "", err
	}
	a.me = wire.ID
	return a.me, nil
}

// list reads a page of the person's list of calendars, those that they hide too.
func (a *api) list(ctx context.Context, token string) (rows []jsontext.Value, next string, err error) {
	q := url.Values{"maxResults": {"250"}, "showHidden": {"true"}}
	if token != "" {
		q.Set("pageToken", token)
	} else {
		a.rows, a.whole = nil, false
	}
	var wire struct {
		Items *[]jsontext.Value `json:"items"`
		Next  string            `json:"nextPageToken"`
	}
	if err := a.get(ctx, "users/me/calendarList", q, &wire); err != nil {
		return nil, "", err
	}
	if wire.Items == nil {
		return nil, "", connectorkit.Fail(connectorkit.Malformed, errFrame)
	}
	a.rows, a.whole = append(a.rows, *wire.Items...), wire.Next == ""
	return *wire.Items, wire.Next, nil
}

// inventory is a page of the stream of calendars.
func (a *api) inventory(ctx context.Context, v connectorkit.PageRequest) (connectorkit.InventoryPage, error) {
	me, err := a.account(ctx)
	if err != nil {
		return connectorkit.InventoryPage{}, err
	}
	rows, next, err := a.list(ctx, v.Token)
	if err != nil {
		return connectorkit.InventoryPage{}, err
	}
	out := connectorkit.InventoryPage{Next: next, View: me}
	for _, raw := range rows {
		out.Things = append(out.Things, readCalendar(raw))
	}
	return out, nil
}

// readable are the calendars whose events may be read; of others Google shows when they are busy and no more.
func (a *api) readable(ctx context.Context) (ids []string, account string, err error) {
	if account, err = a.account(ctx); err != nil {
		return nil, "", err
	}
	token := ""
	for range maxPages {
		if a.whole {
			break
		}
		if _, token, err = a.list(ctx, token); err != nil {
			return nil, "", err
		}
	}
	for _, raw := range a.rows {
		var wire struct {
			ID   string `json:"id"`
			Role string `json:"accessRole"`
		}
		if json.Unmarshal(raw, &wire) == nil && wire.ID != "" && wire.Role != "freeBusyReader" && wire.Role != "none" {
			ids = append(ids, wire.ID)
		}
	}
	return ids, account, nil
}

// gone tells whether a calendar has left the person's list.
func (a *api) gone(ctx context.Context, id string) (bool, error) {
	var wire struct {
		ID string `json:"id"`
	}
	err := a.get(ctx, "users/me/calendarList/"+url.PathEscape(id), nil, &wire)
	var refused *connectorkit.Error
	if errors.As(err, &refused) && refused.Class == connectorkit.NotFound {
		return true, nil
	}
	return false, err
}
