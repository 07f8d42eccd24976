package providerauth

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"github.com/pdpp-go/pdpp/connectorkit/publicaddress"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/manifest"
)

// config is the library's view of a provider. The library makes requests and reads answers; it
// neither keeps nor refreshes anything here.
func config(o *manifest.OAuth, app App, redirect string) *oauth2.Config {
	style := oauth2.AuthStyleInHeader
	if o.ClientAuth == manifest.ClientAuthBody || app.Secret.Reveal() == "" {
		style = oauth2.AuthStyleInParams
	}
	return &oauth2.Config{ClientID: app.ID, ClientSecret: app.Secret.Reveal(), RedirectURL: redirect,
		Endpoint: oauth2.Endpoint{AuthURL: o.AuthorizeURL, TokenURL: o.TokenURL, DeviceAuthURL: o.DeviceURL,
			AuthStyle: style}}
}

// answerTime bounds an answer of a provider while the owner waits for it.
const answerTime = 20 * time.Second

// clientContext returns a context in which the library uses our client. The client follows no redirect, because the
// form contains secrets.
func (k *Keeper) clientContext(ctx context.Context, s SignInSource) context.Context {
	return through(ctx, k.transport(s))
}

// publicTransport reaches public addresses only, whatever a name resolves to. A proxy would resolve it after the check.
var publicTransport = &http.Transport{
	DialContext: (&net.Dialer{Timeout: answerTime, ControlContext: publicaddress.DialControl}).DialContext,
	Proxy:       nil, ForceAttemptHTTP2: true,
	MaxIdleConns: 4, IdleConnTimeout: time.Minute, TLSHandshakeTimeout: answerTime,
}

// transport returns what carries requests to a provider; nil means the network.
func (k *Keeper) transport(s SignInSource) http.RoundTripper {
	if k.Transport == nil && s.PublicOnly {
		return publicTransport
	}
	return k.Transport
}

// exchangeContext is clientContext for an exchange of a code or a refresh token.
func (k *Keeper) exchangeContext(ctx context.Context, s SignInSource) context.Context {
	o := s.Manifest.OAuth()
	if len(o.TokenParams) == 0 && o.TokenMember == "" {
		return k.clientContext(ctx, s)
	}
	return through(ctx, wrappedExchange{k.transport(s), o})
}

func through(ctx context.Context, t http.RoundTripper) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Transport: t, Timeout: answerTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }})
}

// callingAs shows the app's secret in the header where the library does not: it asks for codes as
// an app that has none.
func (k *Keeper) callingAs(ctx context.Context, s SignInSource, c *oauth2.Config) context.Context {
	if c.Endpoint.AuthStyle != oauth2.AuthStyleInHeader {
		return k.clientContext(ctx, s)
	}
	return through(ctx, basic{k.transport(s), c})
}

type basic struct {
	http.RoundTripper
	c *oauth2.Config
}

func (b basic) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.SetBasicAuth(url.QueryEscape(b.c.ClientID), url.QueryEscape(b.c.ClientSecret))
	if b.RoundTripper == nil {
		return http.DefaultTransport.RoundTrip(r)
	}
	return b.RoundTripper.RoundTrip(r)
}

func (k *Keeper) exchangeRefresh(
	ctx context.Context,
	s SignInSource,
	app App,
	refresh credential.Secret,
) (*oauth2.Token,
	error) {
	// A source that is thrown away after one answer is one request.
	t, err := config(s.Manifest.OAuth(), app, "").TokenSource(k.exchangeContext(ctx, s),
		&oauth2.Token{RefreshToken: refresh.Reveal()}).Token()
	return t, answered(err)
}

var errorWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z_]{1,40}$`) })

// answered takes the provider's words out of an error, but for the codes of the protocol.
func answered(err error) error {
	var retrieveError *oauth2.RetrieveError
	if !errors.As(err, &retrieveError) || retrieveError.Response == nil {
		if err != nil {
			return errors.New("the provider gave no answer that can be used")
		}
		return nil
	}
	e := &answerError{Status: retrieveError.Response.StatusCode}
	if errorWord().MatchString(retrieveError.ErrorCode) {
		e.Code = retrieveError.ErrorCode
	} else {
		e.Code = inOtherWords(retrieveError.Body)
	}
	return e
}

// providerCodes are the codes that providers use instead of those of the protocol, by the subject of the error. Strava
// answers {"message":"Bad Request","errors":[{"resource":"RefreshToken","field":"refresh_token","code":"invalid"}]}.
var providerCodes = map[string]string{"RefreshToken": "invalid_grant", "AuthorizationCode": "invalid_grant",
	"Application": "invalid_client"}

// inOtherWords is the protocol's code for a refusal that has none; empty when nothing is known of it.
func inOtherWords(body []byte) string {
	var refusal struct {
		Errors []struct {
			Resource string `json:"resource"`
			Code     string `json:"code"`
		} `json:"errors"`
	}
	if json.Unmarshal(body, &refusal) != nil {
		return ""
	}
	for _, e := range refusal.Errors {
		if word := providerCodes[e.Resource]; word != "" && e.Code == "invalid" {
			return word
		}
	}
	return ""
}

// mergeTokens returns the tokens of an answer. Missing members keep their previous values.
func mergeTokens(t *oauth2.Token, o *manifest.OAuth, before credential.Tokens) credential.Tokens {
	out := credential.Tokens{Access: credential.NewSecret(t.AccessToken), Refresh: before.Refresh, Scope: before.Scope,
		Lifetime: time.Duration(o.TokenLifetimeSeconds) * time.Second}
	if t.RefreshToken != "" {
		out.Refresh = credential.NewSecret(t.RefreshToken)
	}
	if t.ExpiresIn > 0 {
		out.Lifetime = time.Duration(t.ExpiresIn) * time.Second
	}
	if scope, ok := t.Extra("scope").(string); ok && scope != "" {
		out.Scope = scope
	}
	return out
}

// scopeSeparator returns the text between two scopes.
func scopeSeparator(o *manifest.OAuth) string {
	if o.ScopeSeparator != "" {
		return o.ScopeSeparator
	}
	return " "
}

// missingScopes returns the wanted scopes that the provider did not grant, or none when it does not report them.
func missingScopes(o *manifest.OAuth, wanted []string, given string) (missing []string) {
	if given == "" {
		return nil
	}
	has := map[string]bool{}
	for _, name := range strings.FieldsFunc(given, func(r rune) bool { return r == ' ' || r == ',' }) {
		has[name] = true
	}
	for _, s := range o.Scopes {
		for _, name := range wanted {
			if s.Name == name && !has[name] {
				missing = append(missing, s.Label)
			}
		}
	}
	return missing
}
