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
	siteURL      = "https://chatgpt.com"
	backendPath  = "backend-api/"
	sessionPath  = "api/auth/session"
	pageLanguage = "en-US"
)

var (
	errUnexpectedShape = errors.New("the answer has another shape than expected")
	errSignedOut       = errors.New("the browser is signed out")
)

// siteClient makes requests like the site's own page. None of its methods waits or retries, and it remembers only the
// access token.
//
// The site has three separate limits, so each has its own pace: lists and the rest, several conversations at once,
// one conversation.
type siteClient struct {
	lists, batch, details *governhttp.Client
	// cookie returns a cookie that the page can read; empty when there is none of that name.
	cookie func(ctx context.Context, name string) string
	hide   func(secret string)

	mu    sync.Mutex
	token string
	rows  map[string]conversationRow // as lists had them in this run
}

// rememberRow keeps a row for when its conversation is read.
func (a *siteClient) rememberRow(r conversationRow) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.rows == nil {
		a.rows = map[string]conversationRow{}
	}
	a.rows[r.conversationID()] = r
}

// conversationRecords returns all records of a conversation that was read for the item.
func (a *siteClient) conversationRecords(c *conversation, item connectorkit.Item) []connectorkit.Record {
	a.mu.Lock()
	listed, ok := a.rows[item.Key]
	a.mu.Unlock()
	c.fillFromLocator(item.Locator)
	if !ok {
		return append(c.messageRecords(), c.completedRecord(nil))
	}
	return append(c.messageRecords(), c.completedRecord(&listed))
}

// configurePace sets the pace of single conversations. Their bucket refills by one a minute, and a run must be able
// to wait that long; otherwise it would collect a single conversation each time. Longer waits are left to a later
// run, because they would hold a browser for too little.
func configurePace(c *governor.Config) {
	c.Ceiling, c.Longest, c.MaxWait = 250*time.Millisecond, 5*time.Minute, 2*time.Minute
}

func newSiteClient(s *connectorkit.Setup, transport http.RoundTripper, base string,
	cookie func(context.Context, string) string) (*siteClient, error) {
	a := &siteClient{cookie: cookie, hide: s.HideSecret}
	for _, c := range []struct {
		client **governhttp.Client
		sender *governhttp.Sender
	}{
		{&a.lists, s.Sender("")}, {&a.batch, s.Sender("batch")}, {&a.details, s.Sender("detail", configurePace)},
	} {
		client, err := s.HTTP(governhttp.Options{
			BaseURL: base, Transport: transport, Classify: classifyResponse, Sender: c.sender, MaxBody: maxConversation,
			Header: http.Header{"Accept": {"*/*"}, "Content-Type": {"application/json"}, "Oai-Language": {pageLanguage}},
		})
		if err != nil {
			return nil, err
		}
		*c.client = client
	}
	return a, nil
}

// wireSession is the answer of the session call.
type wireSession struct {
	User struct {
		ID string `json:"id"`
	} `json:"user"`
	Token string `json:"accessToken"`
}

// readSession decodes the answer of the session call. The status is always 200; without a user and a token the
// visitor is signed out.
func readSession(body []byte) (wireSession, error) {
	var s wireSession
	if err := decodeLenient(body, &s); err != nil {
		return wireSession{}, connectorkit.Fail(connectorkit.Malformed, err)
	}
	if s.User.ID == "" || s.Token == "" {
		return wireSession{}, connectorkit.Fail(connectorkit.Unauthorized, errSignedOut)
	}
	return s, nil
}

// renewAccessToken returns an access token other than the refused one. An empty argument accepts any token.
func (a *siteClient) renewAccessToken(ctx context.Context, refused string) (string, error) {
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

// sendRequest sends one call. A token that is refused is renewed, once.
func (a *siteClient) sendRequest(ctx context.Context, client *governhttp.Client,
	r governhttp.Request) (*governhttp.Response, error) {
	token, err := a.renewAccessToken(ctx, "")
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(ctx, a.withPageHeaders(ctx, r, token))
	var refused *connectorkit.Error
	if !errors.As(err, &refused) || refused.Class != connectorkit.Unauthorized ||
		refused.Status != http.StatusUnauthorized {
		return resp, err
	}
	if token, err = a.renewAccessToken(ctx, token); err != nil {
		return nil, err
	}
	return client.Do(ctx, a.withPageHeaders(ctx, r, token))
}

// withPageHeaders adds what the page sends with every call: token, device, and the workspace where
// one is chosen, without which the site silently lists the personal one.
func (a *siteClient) withPageHeaders(ctx context.Context, r governhttp.Request, token string) governhttp.Request {
	h := http.Header{"Authorization": {"Bearer " + token}}
	if id := a.cookie(ctx, "oai-did"); id != "" {
		h.Set("Oai-Device-Id", id)
	}
	if id := workspaceOfCookie(a.cookie(ctx, "_account")); id != "" {
		h.Set("Chatgpt-Account-Id", id)
	}
	r.Header, r.Path = h, backendPath+r.Path
	return r
}

// workspaceOfCookie is what the cookie names; a person's own has no name.
func workspaceOfCookie(cookie string) string {
	if cookie == "personal" {
		return ""
	}
	return cookie
}

// fetchRows reads a page of rows. Without any of the names it is no list, whatever it is.
func (a *siteClient) fetchRows(ctx context.Context, path string, query url.Values,
	names ...string) (rows []jsontext.Value,
	cursor string, err error) {
	resp, err := a.sendRequest(ctx, a.lists, governhttp.Request{Path: path, Query: query})
	if err != nil {
		return nil, "", err
	}
	members := map[string]jsontext.Value{}
	if err := decodeLenient(resp.Body, &members); err != nil {
		return nil, "", connectorkit.Fail(connectorkit.Malformed, err)
	}
	for _, name := range names {
		if members[name].Kind() != '[' {
			continue
		}
		if err := decodeLenient(members[name], &rows); err != nil {
			return nil, "", connectorkit.Fail(connectorkit.Malformed, err)
		}
		_ = decodeLenient(members["cursor"], &cursor) // null ends
		return rows, cursor, nil
	}
	return nil, "", connectorkit.Fail(connectorkit.Malformed, errUnexpectedShape)
}

// fetchConversation reads one conversation.
func (a *siteClient) fetchConversation(ctx context.Context, item connectorkit.Item) ([]connectorkit.Record, error) {
	resp, err := a.sendRequest(ctx, a.details, governhttp.Request{Path: "conversation/" + url.PathEscape(item.Key)})
	if err != nil {
		return nil, err
	}
	c, err := parseConversation(resp.Body)
	if err != nil {
		return nil, connectorkit.Fail(connectorkit.Malformed, err)
	}
	if c.conversationID() != item.Key {
		return nil, connectorkit.Fail(connectorkit.Malformed, errUnexpectedShape)
	}
	return a.conversationRecords(c, item), nil
}

// conversationsPerBatch is the largest number of conversations in one batch call.
const conversationsPerBatch = 10

// fetchConversations reads several conversations. Omitted and unreadable ones are left to a separate call.
func (a *siteClient) fetchConversations(ctx context.Context, items []connectorkit.Item) ([]connectorkit.Fetched,
	error) {
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
	resp, err := a.sendRequest(ctx, a.batch, governhttp.Request{Method: http.MethodPost, Path: "conversations/batch",
		Body: body})
	var e *connectorkit.Error
	if errors.As(err, &e) && e.Status == http.StatusMethodNotAllowed {
		return nil, &connectorkit.Error{Class: connectorkit.NotFound, Status: e.Status, Err: err}
	}
	if err != nil {
		return nil, err
	}
	var rows []jsontext.Value
	if err := decodeLenient(resp.Body, &rows); err != nil || rows == nil {
		return nil, connectorkit.Fail(connectorkit.Malformed, errUnexpectedShape)
	}
	var out []connectorkit.Fetched
	for _, raw := range rows {
		c, err := parseConversation(raw)
		if err != nil {
			continue
		}
		if item, ok := asked[c.conversationID()]; ok {
			delete(asked, c.conversationID())
			out = append(out, connectorkit.Fetched{Key: c.conversationID(), Records: a.conversationRecords(c, item)})
		}
	}
	return out, nil
}
