// Package examplebrowser is the smallest connector that reads a site in a browser where the
// owner signed in. The diary that it reads is invented; providersim/signin simulates it. Copy it
// for a source without an API for its users.
//
// What differs from a connector with a token is in open: browser.Open in place of a
// credential, and its transport in place of the network. Everything else is as anywhere.
package examplebrowser

import (
	"context"
	_ "embed"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/browser"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the example in a browser.
func Connector() connectorkit.Connector { return connectorkit.MustNew(manifestJSON, newCollectors) }

const sessionPath = "api/auth/session"

var errUnexpectedShape = errors.New("the answer is not a page of entries")

// newCollectors signs in, or asks the owner to, and returns the collectors.
func newCollectors(ctx context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
	base := strings.TrimSuffix(s.Env("PDPP_EXAMPLE_BROWSER_BASE_URL"), "/")
	b, err := browser.Open(ctx, s, browser.Site{
		Home: base, SignIn: base + "/auth/login", Cookie: "__Secure-session", Probe: probeSession, Wall: isRobotCheck,
	})
	if err != nil {
		return nil, err // it ends the run with the reason: signed out, robot check, another account
	}
	client, err := s.HTTP(governhttp.Options{BaseURL: base, Transport: b.Transport(), Classify: classifyResponse})
	if err != nil {
		return nil, err
	}
	d := &diaryClient{client: client, hide: s.HideSecret}
	return []connectorkit.Collector{connectorkit.PagedStream{Stream: "entries", Page: d.fetchNextPage}}, nil
}

// siteSession is the site's answer about the signed-in account.
type siteSession struct {
	User struct {
		ID string `json:"id"`
	} `json:"user"`
	Token string `json:"accessToken"`
}

// probeSession proves a session by the account that the site names. An answer is no proof: a signed-out visitor gets
// an empty object.
func probeSession(ctx context.Context, p *browser.Page) (browser.SessionState, error) {
	resp, err := p.Fetch(ctx, governhttp.Request{Path: sessionPath})
	if err != nil {
		return browser.Unknown{}, err
	}
	var who siteSession
	switch {
	case isRobotCheck(resp):
		return browser.Walled{}, nil
	case resp.Status != http.StatusOK || json.Unmarshal(resp.Body, &who) != nil:
		return browser.Unknown{}, nil
	case who.User.ID == "":
		return browser.SignedOut{}, nil
	}
	return browser.Live{Account: who.User.ID}, nil
}

// isRobotCheck recognizes the site's check against robots.
func isRobotCheck(r *governhttp.Response) bool { return r.Header.Get("Cf-Mitigated") != "" }

func classifyResponse(r *governhttp.Response) error {
	if isRobotCheck(r) {
		return &connectorkit.Error{Class: connectorkit.Challenge, Status: r.Status}
	}
	return connectorkit.ByStatus(r)
}

// diaryClient makes the page's own requests. The token that they need lives for minutes.
type diaryClient struct {
	client *governhttp.Client
	hide   func(string)
	token  string
}

// fetchNextPage reads the entries after the last one, oldest first. An expired token is renewed once.
func (d *diaryClient) fetchNextPage(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	resp, err := d.requestEntries(ctx, at["after"])
	var e *connectorkit.Error
	if errors.As(err, &e) && e.Class == connectorkit.Unauthorized {
		d.token = ""
		resp, err = d.requestEntries(ctx, at["after"])
	}
	if err != nil {
		return connectorkit.Page{}, err
	}
	var body struct {
		Entries []jsontext.Value `json:"entries"`
		Next    *int             `json:"next"`
	}
	if err := json.Unmarshal(resp.Body, &body); err != nil || body.Entries == nil {
		return connectorkit.Page{}, connectorkit.Fail(connectorkit.Malformed, errors.Join(errUnexpectedShape, err))
	}
	after, _ := strconv.Atoi(at["after"]) // none is the beginning
	page := connectorkit.Page{Next: connectorkit.Cursor{"after": strconv.Itoa(after + len(body.Entries))},
		More: body.Next != nil}
	for _, raw := range body.Entries {
		page.Records = append(page.Records, entryRecord(raw))
	}
	return page, nil
}

func entryRecord(raw jsontext.Value) connectorkit.Record {
	var e struct {
		ID   string  `json:"id"`
		At   string  `json:"at"`
		Text *string `json:"text"`
	}
	if err := json.Unmarshal(raw, &e); err != nil {
		return connectorkit.Unreadable("", err)
	}
	return connectorkit.Upsert(map[string]any{"id": e.ID, "at": e.At, "text": e.Text})
}

func (d *diaryClient) requestEntries(ctx context.Context, after string) (*governhttp.Response, error) {
	if d.token == "" {
		resp, err := d.client.Get(ctx, sessionPath, nil)
		if err != nil {
			return nil, err
		}
		var who siteSession
		if err := json.Unmarshal(resp.Body, &who); err != nil {
			return nil, connectorkit.Fail(connectorkit.Malformed, err)
		}
		if who.Token == "" {
			return nil, connectorkit.Fail(connectorkit.Unauthorized, nil)
		}
		d.hide(who.Token)
		d.token = who.Token
	}
	return d.client.Do(ctx, governhttp.Request{
		Path: "api/entries", Query: url.Values{"after": {after}}, Header: http.Header{"Authorization": {"Bearer " + d.token}},
	})
}
