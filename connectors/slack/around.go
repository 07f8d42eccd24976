package slack

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// permitted returns the reader of a stream that needs a permission of its own. Where the app lacks it, the stream is
// declared as missing, and nothing of it is deleted.
func permitted(what string, read func(context.Context, connectorkit.PageRequest) (connectorkit.InventoryPage,
	error)) func(context.Context, connectorkit.PageRequest) (connectorkit.InventoryPage, error) {
	return func(ctx context.Context, v connectorkit.PageRequest) (connectorkit.InventoryPage, error) {
		page, err := read(ctx, v)
		if of(err) == connectorkit.Forbidden {
			return connectorkit.InventoryPage{Hidden: []connectorkit.Record{connectorkit.Unreadable(what, nil)}}, nil
		}
		return page, err
	}
}

// single returns the reader of a list that comes in one answer.
func (a *api) single(method, member string, q url.Values,
	read func(jsontext.Value) connectorkit.ListItem) func(context.Context,
	connectorkit.PageRequest) (connectorkit.InventoryPage,
	error) {
	return func(ctx context.Context, _ connectorkit.PageRequest) (connectorkit.InventoryPage, error) {
		if err := a.know(ctx); err != nil {
			return connectorkit.InventoryPage{}, err
		}
		got, err := a.list(ctx, a.lists, method, member, q)
		out := connectorkit.InventoryPage{View: a.me.account()}
		for _, raw := range got.rows {
			out.Things = append(out.Things, read(raw))
		}
		return out, err
	}
}

// memberships reads who is in the conversations that the person is in. The record of a direct message names the other
// person already.
func (a *api) memberships(ctx context.Context, v connectorkit.PageRequest) (connectorkit.InventoryPage, error) {
	joined, err := a.joined(ctx)
	if err != nil {
		return connectorkit.InventoryPage{}, err
	}
	joined = slices.DeleteFunc(joined, func(c listedConversation) bool { return c.IM })
	out := connectorkit.InventoryPage{View: a.me.account()}
	id, cursor, _ := strings.Cut(v.Token, " ")
	at, found := slices.BinarySearchFunc(joined, id,
		func(c listedConversation, id string) int { return strings.Compare(c.ID, id) })
	if at == len(joined) {
		return out, nil
	}
	if !found {
		cursor = "" // the first one has no token; one that was left meanwhile is followed by the next
	}
	id = joined[at].ID
	q := url.Values{"channel": {id}, "limit": {pageSize}}
	if cursor != "" {
		q.Set("cursor", cursor)
	}
	got, err := a.list(ctx, a.members, "conversations.members", "members", q)
	switch of(err) {
	case connectorkit.NotFound, connectorkit.Forbidden:
		out.Hidden = []connectorkit.Record{connectorkit.Unreadable("members of "+id, nil)}
	default:
		if err != nil {
			return connectorkit.InventoryPage{}, err
		}
	}
	for _, raw := range got.rows {
		var user string
		if err := json.Unmarshal(raw, &user); err != nil || user == "" {
			out.Things = append(out.Things, connectorkit.ListItem{Record: connectorkit.Unreadable("", err)})
			continue
		}
		r := membershipRecord{ID: id + ":" + user, Channel: id, User: user}
		out.Things = append(out.Things, connectorkit.ListItem{Key: r.ID, Record: connectorkit.Upsert(r)})
	}
	if begun, known := a.seen[id]; err == nil && (known || cursor == "") {
		a.seen[id] = begun + int64(len(got.rows))
		if n := joined[at].NumMembers; n != nil && got.next == "" {
			a.counted("channel_memberships", "GET api/conversations.list", "channels/[]/num_members", *n, a.seen[id])
		}
	}
	switch {
	case got.next != "":
		out.Next = id + " " + got.next
	case at+1 < len(joined):
		out.Next = joined[at+1].ID
	}
	return out, nil
}

// starred reads what the person has starred, by the numbers of pages.
func (a *api) starred(ctx context.Context, v connectorkit.PageRequest) (connectorkit.InventoryPage, error) {
	return a.numbered(ctx, v, numberedList{"stars", "stars.list", "items"},
		func(raw jsontext.Value) *connectorkit.ListItem {
			thing := readStar(raw)
			return &thing
		})
}

// stats notes once a day how many members each conversation has.
func (a *api) stats(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	if err := a.know(ctx); err != nil {
		return connectorkit.Page{}, err
	}
	day := a.today.UTC().Format(time.DateOnly)
	out := connectorkit.Page{Next: connectorkit.Cursor{"day": day, "account": a.me.account()}}
	if at["day"] == day && at["account"] == a.me.account() {
		return out, nil
	}
	all, err := a.everyConversation(ctx)
	for _, c := range all {
		if c.NumMembers != nil {
			out.Records = append(out.Records,
				connectorkit.Upsert(statRecord{ID: c.ID + ":" + day, Channel: c.ID, Day: day, Members: *c.NumMembers}))
		}
	}
	return out, err
}

// readStates reads once a day how far the person has read each direct message: a request for each of them.
func (a *api) readStates(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	joined, err := a.joined(ctx)
	if err != nil {
		return connectorkit.Page{}, err
	}
	joined = slices.DeleteFunc(joined, func(c listedConversation) bool { return !c.IM && !c.MPIM })
	day := a.today.UTC().Format(time.DateOnly)
	done := 0 // conversations that were read today
	if at["day"] == day && at["account"] == a.me.account() {
		done, _ = slices.BinarySearchFunc(joined, at["after"]+"\x00",
			func(c listedConversation, after string) int { return strings.Compare(c.ID, after) })
	}
	out := connectorkit.Page{Next: connectorkit.Cursor{"day": day, "account": a.me.account(), "after": at["after"]}}
	if done >= len(joined) {
		return out, nil
	}
	c := joined[done]
	var wire struct {
		Channel struct {
			LastRead stamp `json:"last_read"`
		} `json:"channel"`
	}
	_, err = call(ctx, a.members, "conversations.info", url.Values{"channel": {c.ID}}, &wire)
	switch of(err) {
	case connectorkit.NotFound, connectorkit.Forbidden:
		out.Records = []connectorkit.Record{connectorkit.Unreadable(c.ID, nil)}
	default:
		if err != nil {
			return connectorkit.Page{}, err
		}
		r := readStateRecord{ID: c.ID, User: c.User, LastRead: wire.Channel.LastRead}
		if moment, real := r.LastRead.time(); real {
			r.ReadAt = moment.Format(written)
		}
		out.Records = []connectorkit.Record{connectorkit.Upsert(r)}
	}
	out.Next["after"], out.More = c.ID, done+1 < len(joined)
	return out, nil
}

// numberedList is a list that has numbers of pages: the stream, the method, and the member of the answer.
type numberedList struct{ stream, method, member string }

// numbered reads one page of such a list.
func (a *api) numbered(ctx context.Context, v connectorkit.PageRequest, of numberedList,
	read func(jsontext.Value) *connectorkit.ListItem) (connectorkit.InventoryPage, error) {
	if err := a.know(ctx); err != nil {
		return connectorkit.InventoryPage{}, err
	}
	number, err := strconv.Atoi(v.Token)
	if err != nil {
		number = 1 // the first has no token
	}
	var wire map[string]jsontext.Value
	if _, err := call(ctx, a.lists, of.method, url.Values{"count": {"100"}, "page": {strconv.Itoa(number)}},
		&wire); err != nil {
		return connectorkit.InventoryPage{}, err
	}
	var rows []jsontext.Value
	var paging struct {
		Pages int   `json:"pages"`
		Total int64 `json:"total"`
	}
	if wire[of.member].Kind() != '[' || json.Unmarshal(wire[of.member], &rows) != nil || wire["paging"] != nil &&
		json.Unmarshal(wire["paging"], &paging) != nil {
		return connectorkit.InventoryPage{}, connectorkit.Fail(connectorkit.Malformed, errFrame)
	}
	out := connectorkit.InventoryPage{View: a.me.account()}
	for _, raw := range rows {
		if thing := read(raw); thing != nil {
			out.Things = append(out.Things, *thing)
		}
	}
	if number == 1 {
		a.seen[of.method] = 0
	}
	if a.seen[of.method] += int64(len(rows)); number < paging.Pages {
		out.Next = strconv.Itoa(number + 1)
		return out, nil
	}
	// A plan may hide old things that Slack still counts, so that the number is shown and decides nothing.
	a.counted(of.stream, "GET api/"+of.method, "paging/total", paging.Total, a.seen[of.method])
	return out, nil
}
