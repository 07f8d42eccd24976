package source

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/rest"
	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/declarative/expression"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// checkLogin returns why an authenticator cannot sign in, or nil.
func checkLogin(a *document.SessionToken) error {
	switch a.Login.Authenticator.(type) {
	case nil, *document.NoAuth, *document.Bearer, *document.Basic, *document.APIKey:
	default:
		return fmt.Errorf("a login with %s %w", document.BaseOf(a.Login.Authenticator).Type, ErrUnsupported)
	}
	if _, plain := a.Login.Body.(*document.PlainBody); plain {
		return fmt.Errorf("the body RequestBodyPlainText %w", ErrUnsupported)
	}
	return nil
}

// login signs in with a request and takes the token from its answer.
type login struct {
	*document.SessionToken
	program *program
	run     *rest.Run
}

// request returns the sign-in request.
func (l *login) request(ctx context.Context) (q governhttp.Request, err error) {
	state, r := l.program.stateOf(l.run), l.Login
	c := state.context(r)
	d := newDraft()
	if err := addOwnOptions(r, c, d); err != nil {
		return q, err
	}
	if err := l.program.addCredential(ctx, l.run, r.Authenticator, d); err != nil {
		return q, err
	}
	address, err := requestAddress(r, c)
	if err != nil {
		return q, err
	}
	if !state.mayReach(address) {
		return q, errForeignHost
	}
	for _, secret := range d.secrets {
		l.run.Setup.HideSecret(secret)
	}
	return q, encode(&q, state.replaceHost(address), r.Method, d)
}

// identity returns what distinguishes this sign-in from others.
func (l *login) identity(ctx context.Context) (string, error) {
	q, err := l.request(ctx)
	return fmt.Sprint(requestIdentity(q), l.TokenPath), err
}

// obtain signs in.
func (l *login) obtain(ctx context.Context) (accessToken, error) {
	q, err := l.request(ctx)
	if err != nil {
		return accessToken{}, err
	}
	answer, err := l.program.send(ctx, l.run, q, l.Login.ErrorHandler)
	if err != nil {
		return accessToken{}, err
	}
	token := accessToken{value: textOf(elementAt(answer, l.TokenPath))}
	if token.value == "" {
		return accessToken{}, refusedLogin(http.StatusOK, nil)
	}
	l.run.Setup.HideSecret(token.value)
	if lasts, err := expression.ParseDuration(l.Expiration); err == nil && l.Expiration != "" {
		if token.until, err = lasts.After(l.run.Setup.Now()); err != nil {
			token.until = time.Time{}
		}
	}
	return token, nil
}

// elementAt returns the value at a path. A number is an element of a list.
func elementAt(v expression.Value, path []string) expression.Value {
	for _, name := range path {
		if v.Kind() != expression.Array {
			v = v.Member(name)
			continue
		}
		i, err := strconv.Atoi(name)
		if items := v.Items(); err == nil && i >= 0 && i < len(items) {
			v = items[i]
			continue
		}
		return expression.Value{}
	}
	return v
}

// legacyLogin signs in at an address of the API.
type legacyLogin struct {
	*document.LegacySession
	program *program
	run     *rest.Run
}

// request returns the sign-in request.
func (l *legacyLogin) request() (q governhttp.Request, err error) {
	state := l.program.stateOf(l.run)
	values, err := texts([]document.Template{l.API, l.LoginURL, l.Username, l.Password}, state.context(l))
	if err != nil {
		return q, err
	}
	address := joinAddress(values[0], values[1])
	if !state.mayReach(address) {
		return q, errForeignHost
	}
	l.run.Setup.HideSecret(values[3])
	d := newDraft()
	d.body["username"], d.body["password"] = expression.StringValue(values[2]), expression.StringValue(values[3])
	return q, encode(&q, state.replaceHost(address), http.MethodPost, d)
}

// begin returns the identity of the sign-in, and starts the keeper with the token that the owner has entered.
func (l *legacyLogin) begin(k *tokenKeeper) (string, error) {
	own, err := templateText(l.Token, l.program.stateOf(l.run).context(l))
	if err != nil {
		return "", err
	}
	k.token.value = own
	q, err := l.request()
	return requestIdentity(q) + own, err
}

// obtain signs in.
func (l *legacyLogin) obtain(ctx context.Context) (accessToken, error) {
	q, err := l.request()
	if err != nil {
		return accessToken{}, err
	}
	answer, err := l.program.send(ctx, l.run, q, nil)
	if err != nil {
		return accessToken{}, err
	}
	key, err := templateText(l.ResponseKey, l.program.stateOf(l.run).context(l))
	if err != nil {
		return accessToken{}, err
	}
	token := accessToken{value: textOf(answer.Member(key))}
	if token.value == "" {
		return accessToken{}, refusedLogin(http.StatusOK, nil)
	}
	l.run.Setup.HideSecret(token.value)
	return token, nil
}
