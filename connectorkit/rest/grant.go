package rest

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest/internal/rawjson"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

var errNoAccessToken = errors.New("the answer to the sign-in has no access token")

// PasswordGrant signs in with OAuth's password grant, and sends the access token. It signs in again when the provider
// refuses the token, at most once a minute: a provider that refuses fresh tokens refuses the owner. Name and password
// are in the body of one request, which follows no redirect.
type PasswordGrant struct {
	Path   string            // of the token, below the source's root
	Form   map[string]string // variables by their parameter, such as username and password
	Member string            // path of the token in the answer
	// Message is for the owner, if the provider refuses the sign-in.
	Message string
}

const grantInterval = time.Minute

// Authorize implements Authenticator.
func (g PasswordGrant) Authorize(s *connectorkit.Setup, o *governhttp.Options) error {
	client, err := s.HTTP(governhttp.Options{BaseURL: o.BaseURL, Header: o.Header, Classify: g.classify})
	if err != nil {
		return err
	}
	form := url.Values{"grant_type": {"password"}}
	for name, variable := range g.Form {
		form.Set(name, s.Env(variable))
	}
	var mu sync.Mutex
	var current string
	var renewed time.Time
	o.Token = func(ctx context.Context, refused string) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		replaces := current != "" && refused == current
		if current != "" && (!replaces || !renewed.IsZero() && s.Now().Sub(renewed) < grantInterval) {
			return current, nil
		}
		if replaces {
			renewed = s.Now()
		}
		r, err := client.Do(ctx, governhttp.Request{Method: http.MethodPost, Path: g.Path, Body: []byte(form.Encode()),
			Header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, NoRedirect: true})
		if err != nil {
			return "", err
		}
		token, _ := rawjson.TextOf(rawjson.MemberAt(r.Body, rawjson.SplitPath(g.Member)))
		if token == "" {
			return "", malformed(errNoAccessToken)
		}
		s.HideSecret(token)
		current = token
		return current, nil
	}
	return nil
}

// classify returns the error that the answer to a sign-in means. OAuth refuses a wrong name, password or client with
// the status 400.
func (g PasswordGrant) classify(r *governhttp.Response) error {
	switch r.Status {
	case http.StatusOK:
		return connectorkit.WholeJSON(r)
	case http.StatusBadRequest, http.StatusUnauthorized:
		return &connectorkit.Error{Class: connectorkit.Unauthorized, Status: r.Status, OwnerMessage: g.Message}
	}
	return connectorkit.ByStatus(r)
}
