package bluesky

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/protocol"
)

// account is a person's repository on a server, for one run.
type account struct {
	setup                      *connectorkit.Setup
	server                     *url.URL
	identifier, password       string
	signIn                     *governhttp.Client // sign-ins have an allowance of their own
	client, files, indexed     *governhttp.Client
	did, handle, authorization string
	rev                        string  // of the repository when this run first asked
	index                      *counts // nil until asked for
}

func newAccount(s *connectorkit.Setup, address, handle, password string) (*account, error) {
	if address = strings.TrimSpace(address); address == "" {
		address = entryway
	} else if !strings.Contains(address, "://") {
		address = "https://" + address
	}
	server, err := url.Parse(address)
	if err != nil || server.Host == "" || server.User != nil || server.Scheme != "https" && server.Scheme != "http" {
		return nil, connectorkit.End("bluesky_server_unreadable",
			"the address of the server cannot be read: enter it as in https://bsky.social, or leave it empty, and connect again", protocol.ManualActionRequired, false)
	}
	a := &account{setup: s, server: server, identifier: strings.TrimPrefix(strings.TrimSpace(handle), "@"), password: password}
	a.signIn, err = s.HTTP(governhttp.Options{BaseURL: origin(server), Classify: classify, Header: userAgent, Sender: s.Sender("sign_in")})
	return a, err
}

var userAgent = http.Header{"User-Agent": {"pdpp-bluesky-connector/1.0"}}

func origin(u *url.URL) string { return u.Scheme + "://" + u.Host }

// begin signs in, unless this run has a session.
func (a *account) begin(ctx context.Context) error {
	if a.authorization != "" {
		return nil
	}
	body, err := json.Marshal(map[string]string{"identifier": a.identifier, "password": a.password})
	if err != nil {
		return err
	}
	resp, err := a.signIn.Do(ctx, governhttp.Request{
		Method: http.MethodPost, Path: "/xrpc/com.atproto.server.createSession", Body: body, Header: http.Header{"Content-Type": {"application/json"}},
	})
	if err != nil {
		return err
	}
	var session struct {
		DID       string `json:"did"`
		Handle    string `json:"handle"`
		AccessJWT string `json:"accessJwt"`
		Document  struct {
			Service []struct {
				ID       string `json:"id"`
				Endpoint string `json:"serviceEndpoint"`
			} `json:"service"`
		} `json:"didDoc"`
	}
	if json.Unmarshal(resp.Body, &session) != nil || session.DID == "" || session.AccessJWT == "" {
		return connectorkit.Fail(connectorkit.Malformed, errForm)
	}
	host := a.server
	for _, s := range session.Document.Service {
		if strings.HasSuffix(s.ID, "#atproto_pds") {
			host = a.dataHost(s.Endpoint)
		}
	}
	a.setup.Hide(session.AccessJWT)
	a.did, a.handle, a.authorization = session.DID, session.Handle, "Bearer "+session.AccessJWT
	if a.client, err = a.setup.HTTP(governhttp.Options{BaseURL: origin(host), Classify: classify, Header: userAgent}); err != nil {
		return err
	}
	a.files, err = a.setup.HTTP(governhttp.Options{BaseURL: origin(host), Classify: classifyFile, Header: userAgent})
	if err != nil {
		return err
	}
	a.indexed, err = a.setup.HTTP(governhttp.Options{BaseURL: origin(host), Classify: classifyCounts, Header: userAgent})
	return err
}

// dataHost is where the repository is. The session goes nowhere but to the server that was signed
// in to, and from Bluesky's entryway to the hosts of Bluesky.
func (a *account) dataHost(endpoint string) *url.URL {
	u, err := url.Parse(endpoint)
	if err == nil && origin(a.server) == entryway && u.Scheme == "https" && strings.HasSuffix(u.Host, ".host.bsky.network") {
		return u
	}
	return a.server
}

// get asks one method of the server and reads its answer. A session that has run out meanwhile is
// made anew once.
func (a *account) get(ctx context.Context, method string, query url.Values, into any) error {
	resp, err := a.ask(ctx, method, query)
	if errors.Is(err, errExpired) {
		a.authorization = ""
		resp, err = a.ask(ctx, method, query)
	}
	if err != nil {
		return err
	}
	if json.Unmarshal(resp.Body, into) != nil {
		return connectorkit.Fail(connectorkit.Malformed, errForm)
	}
	return nil
}

func (a *account) ask(ctx context.Context, method string, query url.Values) (*governhttp.Response, error) {
	if err := a.begin(ctx); err != nil {
		return nil, err
	}
	client := a.client
	switch {
	case query.Has("did"):
		query.Set("did", a.did)
	case method == profileMethod:
		client = a.indexed
	default:
		query.Set("repo", a.did)
	}
	return client.Do(ctx, governhttp.Request{Path: "/xrpc/" + method, Query: query,
		Header: http.Header{"Authorization": {a.authorization}}})
}

// revision asks which state of the repository is the newest.
func (a *account) revision(ctx context.Context) (string, error) {
	var commit struct {
		Rev string `json:"rev"`
	}
	err := a.get(ctx, "com.atproto.sync.getLatestCommit", url.Values{"did": {""}}, &commit)
	if err == nil && commit.Rev == "" {
		err = connectorkit.Fail(connectorkit.Malformed, errForm)
	}
	return commit.Rev, err
}
