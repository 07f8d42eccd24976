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

// blueskyAccount is a person's repository on a server, for one run.
type blueskyAccount struct {
	setup                      *connectorkit.Setup
	server                     *url.URL
	identifier, password       string
	signIn                     *governhttp.Client // sign-ins have an allowance of their own
	client, files, indexed     *governhttp.Client
	did, handle, authorization string
	rev                        string       // of the repository when this run first asked
	index                      *indexCounts // nil until asked for
}

func newAccount(s *connectorkit.Setup, address, handle, password string) (*blueskyAccount, error) {
	if address = strings.TrimSpace(address); address == "" {
		address = defaultEntryway
	} else if !strings.Contains(address, "://") {
		address = "https://" + address
	}
	server, err := url.Parse(address)
	if err != nil || server.Host == "" || server.User != nil || server.Scheme != "https" && server.Scheme != "http" {
		return nil, connectorkit.EndRun("bluesky_server_unreadable",
			"the address of the server cannot be read: enter it as in https://bsky.social, or leave it empty, and connect again",
			protocol.ManualActionRequired, false)
	}
	a := &blueskyAccount{setup: s, server: server, identifier: strings.TrimPrefix(strings.TrimSpace(handle), "@"),
		password: password}
	a.signIn, err = s.HTTP(governhttp.Options{BaseURL: originOf(server), Classify: classifyResponse, Header: userAgent,
		Sender: s.Sender("sign_in")})
	return a, err
}

var userAgent = http.Header{"User-Agent": {"pdpp-bluesky-connector/1.0"}}

func originOf(u *url.URL) string { return u.Scheme + "://" + u.Host }

// ensureSession signs in, unless this run has a session.
func (a *blueskyAccount) ensureSession(ctx context.Context) error {
	if a.authorization != "" {
		return nil
	}
	body, err := json.Marshal(map[string]string{"identifier": a.identifier, "password": a.password})
	if err != nil {
		return err
	}
	resp, err := a.signIn.Do(ctx, governhttp.Request{
		Method: http.MethodPost, Path: "/xrpc/com.atproto.server.createSession", Body: body,
		Header: http.Header{"Content-Type": {"application/json"}},
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
		return connectorkit.Fail(connectorkit.Malformed, errUnexpectedShape)
	}
	host := a.server
	for _, s := range session.Document.Service {
		if strings.HasSuffix(s.ID, "#atproto_pds") {
			host = a.dataHostURL(s.Endpoint)
		}
	}
	a.setup.HideSecret(session.AccessJWT)
	a.did, a.handle, a.authorization = session.DID, session.Handle, "Bearer "+session.AccessJWT
	if a.client, err = a.setup.HTTP(governhttp.Options{BaseURL: originOf(host), Classify: classifyResponse,
		Header: userAgent}); err != nil {
		return err
	}
	a.files, err = a.setup.HTTP(governhttp.Options{BaseURL: originOf(host), Classify: classifyFile, Header: userAgent})
	if err != nil {
		return err
	}
	a.indexed, err = a.setup.HTTP(governhttp.Options{BaseURL: originOf(host), Classify: classifyCounts, Header: userAgent})
	return err
}

// dataHostURL is where the repository is. The session goes nowhere but to the server that was signed
// in to, and from Bluesky's entryway to the hosts of Bluesky.
func (a *blueskyAccount) dataHostURL(endpoint string) *url.URL {
	u, err := url.Parse(endpoint)
	if err == nil && originOf(a.server) == defaultEntryway && u.Scheme == "https" &&
		strings.HasSuffix(u.Host, ".host.bsky.network") {
		return u
	}
	return a.server
}

// getJSON calls one method of the server and decodes its answer. It signs in again once when the session has expired.
func (a *blueskyAccount) getJSON(ctx context.Context, method string, query url.Values, into any) error {
	resp, err := a.callMethod(ctx, method, query)
	if errors.Is(err, errExpired) {
		a.authorization = ""
		resp, err = a.callMethod(ctx, method, query)
	}
	if err != nil {
		return err
	}
	if json.Unmarshal(resp.Body, into) != nil {
		return connectorkit.Fail(connectorkit.Malformed, errUnexpectedShape)
	}
	return nil
}

func (a *blueskyAccount) callMethod(ctx context.Context, method string, query url.Values) (*governhttp.Response,
	error) {
	if err := a.ensureSession(ctx); err != nil {
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

// latestRevision asks which state of the repository is the newest.
func (a *blueskyAccount) latestRevision(ctx context.Context) (string, error) {
	var commit struct {
		Rev string `json:"rev"`
	}
	err := a.getJSON(ctx, "com.atproto.sync.getLatestCommit", url.Values{"did": {""}}, &commit)
	if err == nil && commit.Rev == "" {
		err = connectorkit.Fail(connectorkit.Malformed, errUnexpectedShape)
	}
	return commit.Rev, err
}
