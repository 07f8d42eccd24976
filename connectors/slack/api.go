package slack

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// pageSize is what Slack recommends as the largest page.
const pageSize = "200"

var (
	// errFrame is an answer that decodes but is not what it should be. To read it as an empty page would be to call
	// data complete that is not there.
	errFrame  = errors.New("the answer has not the list that was asked for")
	errCircle = errors.New("the next page is one that was already read")
)

// api makes requests. None of its methods waits or retries.
type api struct {
	lists, histories, threads, members *governhttp.Client

	counted func(stream, route, member string, announced, counted int64)
	seen    map[string]int64 // what this run has read from the beginning: members of a conversation, things of a list

	me    identity // whose token it is; empty until asked
	today time.Time

	// conversations are those of the account, read once in a run.
	conversations []listedConversation
	listedAll     bool
}

// listedConversation is what the list shows of a conversation.
type listedConversation struct {
	ID         string `json:"id"`
	Member     bool   `json:"is_member"`
	IM         bool   `json:"is_im"`
	MPIM       bool   `json:"is_mpim"`
	User       string `json:"user"`
	NumMembers *int64 `json:"num_members"`
}

type identity struct {
	URL          string  `json:"url"`
	Team         string  `json:"team"`
	TeamID       string  `json:"team_id"`
	User         string  `json:"user"`
	UserID       string  `json:"user_id"`
	BotID        *string `json:"bot_id"`
	EnterpriseID *string `json:"enterprise_id"`
}

// account tells workspaces and people apart.
func (i identity) account() string { return i.TeamID + ":" + i.UserID }

func call(ctx context.Context, c *governhttp.Client, method string, q url.Values, into any) (http.Header, error) {
	resp, err := c.Do(ctx, governhttp.Request{Path: method, Query: q})
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(resp.Body, into); err != nil {
		return nil, connectorkit.Fail(connectorkit.Malformed, err)
	}
	return resp.Header, nil
}

// know finds out whose token it is and what time it is there, once in a run.
func (a *api) know(ctx context.Context) error {
	if a.me.TeamID != "" {
		return nil
	}
	var me identity
	h, err := call(ctx, a.lists, "auth.test", nil, &me)
	if err != nil {
		return err
	}
	if me.TeamID == "" || me.UserID == "" {
		return connectorkit.Fail(connectorkit.Malformed, errFrame)
	}
	now, err := http.ParseTime(h.Get("Date")) // which is not misled by a wrong clock here
	if err != nil {
		now = time.Now()
	}
	a.me, a.today = me, now
	return nil
}

// list is one page of anything.
type list struct {
	rows []jsontext.Value
	next string // cursor of the next page; empty on the last
	more bool   // there is more, which a page may say without a cursor
	// limited says that the workspace's plan hides what is older.
	limited bool
}

func (a *api) list(ctx context.Context, c *governhttp.Client, method, member string, q url.Values) (list, error) {
	var wire map[string]jsontext.Value
	if _, err := call(ctx, c, method, q, &wire); err != nil {
		return list{}, err
	}
	var out list
	if wire[member].Kind() != '[' || json.Unmarshal(wire[member], &out.rows) != nil {
		return list{}, connectorkit.Fail(connectorkit.Malformed, errFrame)
	}
	var metadata struct {
		Next string `json:"next_cursor"`
	}
	if raw := wire["response_metadata"]; raw.Kind() == '{' && json.Unmarshal(raw, &metadata) != nil {
		return list{}, connectorkit.Fail(connectorkit.Malformed, errFrame)
	}
	out.next, out.limited = metadata.Next, wire["is_limited"].Kind() == 't'
	out.more = out.next != "" || wire["has_more"].Kind() == 't'
	return out, nil
}

// everyConversation returns all conversations that the list shows, in the order of their ids.
func (a *api) everyConversation(ctx context.Context) ([]listedConversation, error) {
	if a.listedAll {
		return a.conversations, nil
	}
	if err := a.know(ctx); err != nil {
		return nil, err
	}
	var all []listedConversation
	seen := map[string]bool{}
	for cursor := ""; ; {
		got, err := a.list(ctx, a.lists, "conversations.list", "channels", listed("conversations.list", cursor))
		if err != nil {
			return nil, err
		}
		for _, raw := range got.rows {
			var c listedConversation
			if json.Unmarshal(raw, &c) == nil && c.ID != "" { // the stream of conversations declares one that cannot be read
				all = append(all, c)
			}
		}
		if seen[cursor] = true; got.next == "" {
			break
		}
		if cursor = got.next; seen[cursor] {
			return nil, connectorkit.Fail(connectorkit.Malformed, errCircle)
		}
	}
	slices.SortFunc(all, func(x, y listedConversation) int { return strings.Compare(x.ID, y.ID) })
	a.conversations = slices.CompactFunc(all, func(x, y listedConversation) bool { return x.ID == y.ID })
	a.listedAll = true
	return a.conversations, nil
}

// joined returns the conversations that the person is in.
func (a *api) joined(ctx context.Context) (out []listedConversation, err error) {
	all, err := a.everyConversation(ctx)
	for _, c := range all {
		if c.IM || c.MPIM || c.Member {
			out = append(out, c)
		}
	}
	return out, err
}

// of is the class of an error; empty when it has none.
func of(err error) connectorkit.Class {
	var e *connectorkit.Error
	if errors.As(err, &e) {
		return e.Class
	}
	return ""
}
