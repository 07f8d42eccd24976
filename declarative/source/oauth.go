package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
	"github.com/pdpp-go/pdpp/declarative/describe"
	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/declarative/expression"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// checkOAuth returns why an authenticator cannot obtain tokens, or nil.
func checkOAuth(a *document.OAuth) error {
	switch {
	case a.TokenEndpoint.IsSet(), a.AccessToken.IsSet():
		return nil
	}
	return fmt.Errorf("OAuthAuthenticator without token_refresh_endpoint %w", ErrUnsupported)
}

const (
	// usualLifetime is how long a token is used if the answer does not limit it.
	usualLifetime = time.Hour
	// expiryMargin is how long before its end a token is replaced; for a short one a fifth of its life.
	expiryMargin = time.Minute
	// maxAnswerDepth bounds the search for a member in the answer of a token endpoint.
	maxAnswerDepth = 6
)

// tokenExchange exchanges the owner's credential for access tokens, and keeps a refresh token that is good for one use.
type tokenExchange struct {
	*document.OAuth
	program *program
	run     *rest.Run
	config  expression.Value // with the current refresh token
}

func (e *tokenExchange) context() *expression.Context {
	c := e.program.stateOf(e.run).context(e.OAuth)
	c.Set(expression.Config, e.config)
	return c
}

// text evaluates a member, or returns what it usually is.
func (e *tokenExchange) text(t document.Template, usual string) (string, error) {
	text, err := templateText(t, e.context())
	return cmp.Or(text, usual), err
}

// begin returns the identity of the exchange, and starts the keeper with the token that the owner has entered.
func (e *tokenExchange) begin(k *tokenKeeper) (string, error) {
	if e.AccessToken.IsSet() {
		own, err := e.text(e.AccessToken, "")
		if err != nil {
			return "", err
		}
		until, err := e.text(e.ExpiryDate, "")
		if err != nil {
			return "", err
		}
		at, known := parseExpiry(until)
		switch {
		case !e.TokenEndpoint.IsSet():
			k.token.value = own
			return "token " + own, nil
		case known && own != "" && own != "None":
			k.token = accessToken{own, at}
		}
	}
	q, err := e.request()
	if err != nil {
		return "", err
	}
	return requestIdentity(q), nil
}

func requestIdentity(q governhttp.Request) string {
	return q.URL + " " + q.Query.Encode() + " " + fmt.Sprint(q.Header) + " " + string(q.Body)
}

// obtain requests a token.
func (e *tokenExchange) obtain(ctx context.Context) (accessToken, error) {
	if !e.TokenEndpoint.IsSet() {
		return accessToken{}, refusedLogin(http.StatusUnauthorized, nil)
	}
	q, err := e.request()
	if err != nil {
		return accessToken{}, err
	}
	answer, err := e.program.send(ctx, e.run, q, nil)
	if err != nil {
		return accessToken{}, err
	}
	names := [3]string{"access_token", "expires_in", "refresh_token"}
	for i, t := range [3]document.Template{e.AccessTokenName, e.ExpiresInName, e.RefreshTokenName} {
		if names[i], err = e.text(t, names[i]); err != nil {
			return accessToken{}, err
		}
	}
	if e.Updater != nil {
		names[2] = cmp.Or(e.Updater.RefreshTokenName, names[2])
	}
	token := textOf(findMember(answer, names[0], 0))
	if token == "" {
		return accessToken{}, refusedLogin(http.StatusOK, nil)
	}
	e.run.Setup.HideSecret(token)
	if err := e.keepRefreshToken(ctx, textOf(findMember(answer, names[2], 0))); err != nil {
		return accessToken{}, err
	}
	return accessToken{token, e.expiry(textOf(findMember(answer, names[1], 0)))}, nil
}

// request returns the request for a token.
func (e *tokenExchange) request() (q governhttp.Request, err error) {
	c := e.context()
	endpoint, err := templateText(e.TokenEndpoint, c)
	if err != nil {
		return q, err
	}
	d := newDraft()
	headers, err := e.RefreshHeaders.Headers(c)
	if err := addValues(headers, err, d.header.Add, d.header.Set); err != nil {
		return q, err
	}
	body, err := e.RefreshBody.Options(c)
	if err := addValues(body, err, d.form.Add, d.form.Set); err != nil {
		return q, err
	}
	if err := e.addMembers(d); err != nil {
		return q, err
	}
	state := e.program.stateOf(e.run)
	if !state.mayReach(endpoint) {
		return q, errForeignHost
	}
	for _, value := range d.header.Values("Authorization") {
		_, code, _ := strings.Cut(value, " ")
		e.run.Setup.HideSecret(code)
	}
	q = governhttp.Request{Method: http.MethodPost, URL: state.replaceHost(endpoint), Header: d.header}
	if e.RefreshAsQuery {
		q.Query = d.form
		return q, nil
	}
	q.Body = []byte(d.form.Encode())
	if d.header.Get("Content-Type") == "" {
		d.header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return q, nil
}

// addMembers adds the grant and the credential to the form. They replace members of the same name. A file that sends
// the app's secret in a header sends it nowhere else.
func (e *tokenExchange) addMembers(d *draft) error {
	grant, err := e.text(e.GrantType, "refresh_token")
	if err != nil {
		return err
	}
	members := []struct {
		name   document.Template
		usual  string
		value  document.Template
		wanted bool
	}{
		{e.ClientIDName, "client_id", e.ClientID, d.header.Get("Authorization") == ""},
		{e.ClientSecretName, "client_secret", e.ClientSecret, d.header.Get("Authorization") == ""},
		{e.RefreshTokenName, "refresh_token", e.RefreshToken, e.Updater == nil && e.RefreshToken.IsSet()},
	}
	for _, m := range members {
		name, err := e.text(m.name, m.usual)
		if err != nil {
			return err
		}
		value, err := e.text(m.value, "")
		if err != nil {
			return err
		}
		if m.wanted {
			e.run.Setup.HideSecret(value)
			d.form.Set(name, value)
		}
	}
	if e.Updater != nil {
		name, err := e.text(e.RefreshTokenName, "refresh_token")
		if err != nil {
			return err
		}
		value := textOf(memberAt(e.config, e.refreshPath()))
		e.run.Setup.HideSecret(value)
		d.form.Set(cmp.Or(e.Updater.RefreshTokenName, name), value)
	}
	name, err := e.text(e.GrantTypeName, "grant_type")
	if err != nil {
		return err
	}
	d.form.Set(name, grant)
	for _, t := range e.Scopes {
		scope, err := e.text(t, "")
		if err != nil {
			return err
		}
		d.form.Add("scopes", scope)
	}
	return nil
}

// refreshPath returns the setting that holds the refresh token, or nil.
func (e *tokenExchange) refreshPath() []string {
	return describe.RefreshTokenPath(e.OAuth)
}

// keepRefreshToken stores a refresh token that replaces that of the owner, before the access token is used: the
// provider may refuse the old one from now on.
func (e *tokenExchange) keepRefreshToken(ctx context.Context, fresh string) error {
	path := e.refreshPath()
	if fresh == "" || path == nil || fresh == textOf(memberAt(e.config, path)) {
		return nil
	}
	i := slices.IndexFunc(e.program.Settings, func(s describe.Setting) bool { return slices.Equal(s.Path, path) })
	if i < 0 {
		return nil
	}
	err := e.run.Setup.Rotate(ctx, map[string]string{e.program.Settings[i].Env: fresh})
	if errors.Is(err, connectorkit.ErrNotStored) {
		return &connectorkit.Error{Class: connectorkit.Unauthorized, Err: err,
			OwnerMessage: "The provider exchanged the refresh token for another one, which could not be stored. " +
				"Enter a new one."}
	}
	if err != nil {
		return err
	}
	config := map[string]any{}
	if err := json.Unmarshal(e.config.AppendJSON(nil), &config); err != nil {
		return connectorkit.Fail(connectorkit.Malformed, errors.New("the settings are not an object"))
	}
	setConfig(config, path, fresh)
	raw, err := json.Marshal(config)
	if err == nil {
		e.config, err = expression.ParseJSON(raw)
	}
	return err
}

// expiry returns when to replace a token.
func (e *tokenExchange) expiry(text string) time.Time {
	now := e.run.Setup.Now()
	lifetime := usualLifetime
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && e.ExpiryFormat == "" {
		lifetime = time.Duration(min(max(seconds, 0), 1e9)) * time.Second
	} else if at, known := parseExpiry(text); known {
		lifetime = at.Sub(now)
	}
	return now.Add(lifetime - min(expiryMargin, lifetime/5))
}

// parseExpiry parses a time: seconds since 1970, or a date of ISO 8601.
func parseExpiry(text string) (time.Time, bool) {
	if seconds, err := strconv.ParseInt(text, 10, 64); err == nil {
		return time.Unix(seconds, 0), true
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00", time.DateTime} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

// findMember returns the first member of a name, at any depth of an answer.
func findMember(v expression.Value, name string, depth int) expression.Value {
	if own := v.Member(name); !own.IsNull() || depth == maxAnswerDepth {
		return own
	}
	var found expression.Value
	look := func(inner expression.Value) bool {
		found = findMember(inner, name, depth+1)
		return found.IsNull()
	}
	v.Each(func(_ string, inner expression.Value) bool { return look(inner) })
	if v.Kind() == expression.Array {
		for _, item := range v.Items() {
			if !look(item) {
				break
			}
		}
	}
	return found
}

// textOf returns the text of a value. It is empty for an absent one.
func textOf(v expression.Value) string {
	if v.IsNull() {
		return ""
	}
	return expression.Print(v)
}

var errForeignHost = connectorkit.Fail(connectorkit.Malformed,
	errors.New("the address is at a host that the owner has not allowed"))

// tokenAddresses returns the addresses that an authenticator sends credentials to, with the component of each.
func tokenAddresses(c document.Component) []addressUse {
	switch a := c.(type) {
	case *document.OAuth:
		if a.TokenEndpoint.IsSet() {
			return []addressUse{{a.TokenEndpoint, a}}
		}
	case *document.SessionToken:
		return []addressUse{{cmp.Or(a.Login.URLBase, a.Login.URL), a.Login}}
	}
	return nil
}

// addressUse is a template of an address and its component.
type addressUse struct {
	template document.Template
	owner    document.Component
}
