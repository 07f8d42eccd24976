package chatgpt

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

const (
	site        = "https://chatgpt.com"
	backend     = "backend-api/"
	sessionPath = "api/auth/session"
	language    = "en-US"
)

var (
	errFrame     = errors.New("the answer has another shape than expected")
	errSignedOut = errors.New("nobody is signed in")
)

// api makes requests as the site's own page does. None of its methods waits, retries or
// remembers anything but the access token.
//
// The site counts three things apart, so that each has a pace of its own: lists and the
// rest, several conversations at once, one conversation.
type api struct {
	lists, batch, details *governhttp.Client
	// cookie reads what the page can read; empty when there is none of that name.
	cookie func(ctx context.Context, name string) string
	hide   func(secret string)

	mu    sync.Mutex
	token string
	rows  map[string]row // as lists had them in this run
}

// noted keeps a row for when its conversation is read.
func (a *api) noted(r row) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.rows == nil {
		a.rows = map[string]row{}
	}
	a.rows[r.key()] = r
}

// whole gives everything of a conversation that was read for the item.
func (a *api) whole(c *conversation, item connectorkit.Item) []connectorkit.Record {
	a.mu.Lock()
	listed, ok := a.rows[item.Key]
	a.mu.Unlock()
	c.from(item.Locator)
	if !ok {
		return append(c.records(), c.completed(nil))
	}
	return append(c.records(), c.completed(&listed))
}

// unhurried is the pace of single conversations. Their bucket fills by one a minute, and a
// run must be able to wait that long: one that may not, and knows the pace, brings a single
// conversation each time. A longer wait holds a browser for too little, and is left to a
// later run.
func unhurried(c *governor.Config) {
	c.Ceiling, c.Longest, c.MaxWait = 250*time.Millisecond, 5*time.Minute, 2*time.Minute
}

func newAPI(s *connectorkit.Setup, transport http.RoundTripper, base string, cookie func(context.Context, string) string) (*api, error) {
	a := &api{cookie: cookie, hide: s.Hide}
	for _, c := range []struct {
		client **governhttp.Client
		sender *governhttp.Sender
	}{
		{&a.lists, s.Sender("")}, {&a.batch, s.Sender("batch")}, {&a.details, s.Sender("detail", unhurried)},
	} {
		client, err := s.HTTP(governhttp.Options{
			BaseURL: base, Transport: transport, Classify: classify, Sender: c.sender, MaxBody: maxConversation,
			Header: http.Header{"Accept": {"*/*"}, "Content-Type": {"application/json"}, "Oai-Language": {language}},
		})
		if err != nil {
			return nil, err
		}
		*c.client = client
	}
	return a, nil
}

// session is what the session call says.
type session struct {
	User struct {
		ID string `json:"id"`
	} `json:"user"`
	Token string `json:"accessToken"`
}

// readSession reads the session call's answer. It is 200 whether somebody is signed in or
// not: without a user and a token nobody is.
func readSession(body []byte) (session, error) {
	var s session
	if err := decode(body, &s); err != nil {
		return session{}, connectorkit.Fail(connectorkit.Malformed, err)
	}
	if s.User.ID == "" || s.Token == "" {
		return session{}, connectorkit.Fail(connectorkit.Unauthorized, errSignedOut)
	}
	return s, nil
}

// renew gives an access token other than the refused one; empty refuses none.
func (a *api) renew(ctx context.Context, refused string) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.token != "" && a.token != refused {
		return a.token, nil
	}
	resp, err := a.lists.Do(ctx, governhttp.Request{Path: sessionPath})
	if err != nil {
		return "", err
	}
	s, err := readSession(resp.Body)
	if err != nil {
		return "", err
	}
	if s.Token == refused {
		return "", connectorkit.Fail(connectorkit.Unauthorized, errors.New("the session has no other token"))
	}
	a.hide(s.Token)
	a.token = s.Token
	return s.Token, nil
}

// do sends one call. A token that is refused is renewed, once.
func (a *api) do(ctx context.Context, client *governhttp.Client, r governhttp.Request) (*governhttp.Response, error) {
	token, err := a.renew(ctx, "")
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(ctx, a.signed(ctx, r, token))
	var refused *connectorkit.Error
	if !errors.As(err, &refused) || refused.Class != connectorkit.Unauthorized || refused.Status != http.StatusUnauthorized {
		return resp, err
	}
	if token, err = a.renew(ctx, token); err != nil {
		return nil, err
	}
	return client.Do(ctx, a.signed(ctx, r, token))
}

// signed adds what the page sends with every call: token, device, and the workspace where
// one is chosen, without which the site silently lists the personal one.
func (a *api) signed(ctx context.Context, r governhttp.Request, token string) governhttp.Request {
	h := http.Header{"Authorization": {"Bearer " + token}}
	if id := a.cookie(ctx, "oai-did"); id != "" {
		h.Set("Oai-Device-Id", id)
	}
	if id := workspace(a.cookie(ctx, "_account")); id != "" {
		h.Set("Chatgpt-Account-Id", id)
	}
	r.Header, r.Path = h, backend+r.Path
	return r
}

// workspace is what the cookie names; a person's own has no name.
func workspace(cookie string) string {
	if cookie == "personal" {
		return ""
	}
	return cookie
}

// list reads a page of rows. Without any of the names it is no list, whatever it is.
func (a *api) list(ctx context.Context, path string, query url.Values, names ...string) (rows []jsontext.Value, cursor string, err error) {
	resp, err := a.do(ctx, a.lists, governhttp.Request{Path: path, Query: query})
	if err != nil {
		return nil, "", err
	}
	members := map[string]jsontext.Value{}
	if err := decode(resp.Body, &members); err != nil {
		return nil, "", connectorkit.Fail(connectorkit.Malformed, err)
	}
	for _, name := range names {
		if members[name].Kind() != '[' {
			continue
		}
		if err := decode(members[name], &rows); err != nil {
			return nil, "", connectorkit.Fail(connectorkit.Malformed, err)
		}
		_ = decode(members["cursor"], &cursor) // null ends
		return rows, cursor, nil
	}
	return nil, "", connectorkit.Fail(connectorkit.Malformed, errFrame)
}

// fetch reads one conversation.
func (a *api) fetch(ctx context.Context, item connectorkit.Item) ([]connectorkit.Record, error) {
	resp, err := a.do(ctx, a.details, governhttp.Request{Path: "conversation/" + url.PathEscape(item.Key)})
	if err != nil {
		return nil, err
	}
	c, err := parse(resp.Body)
	if err != nil {
		return nil, connectorkit.Fail(connectorkit.Malformed, err)
	}
	if c.key() != item.Key {
		return nil, connectorkit.Fail(connectorkit.Malformed, errFrame)
	}
	return a.whole(c, item), nil
}

// batchSize is how many conversations the site gives at once.
const batchSize = 10

// fetchMany reads several conversations. What the site leaves out, and what cannot be read,
// is left to a call of its own.
func (a *api) fetchMany(ctx context.Context, items []connectorkit.Item) ([]connectorkit.Fetched, error) {
	asked := map[string]connectorkit.Item{}
	ids := make([]string, 0, len(items))
	for _, item := range items {
		asked[item.Key] = item
		ids = append(ids, item.Key)
	}
	body, err := json.Marshal(map[string]any{"conversation_ids": ids})
	if err != nil {
		return nil, connectorkit.Fail(connectorkit.Malformed, err)
	}
	resp, err := a.do(ctx, a.batch, governhttp.Request{Method: http.MethodPost, Path: "conversations/batch", Body: body})
	var e *connectorkit.Error
	if errors.As(err, &e) && e.Status == http.StatusMethodNotAllowed {
		return nil, &connectorkit.Error{Class: connectorkit.NotFound, Status: e.Status, Err: err}
	}
	if err != nil {
		return nil, err
	}
	var rows []jsontext.Value
	if err := decode(resp.Body, &rows); err != nil || rows == nil {
		return nil, connectorkit.Fail(connectorkit.Malformed, errFrame)
	}
	var out []connectorkit.Fetched
	for _, raw := range rows {
		c, err := parse(raw)
		if err != nil {
			continue
		}
		if item, ok := asked[c.key()]; ok {
			delete(asked, c.key())
			out = append(out, connectorkit.Fetched{Key: c.key(), Records: a.whole(c, item)})
		}
	}
	return out, nil
}
