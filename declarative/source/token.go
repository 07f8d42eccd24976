package source

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/declarative/expression"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// renewalInterval is the least time between two tokens that replace a refused one. A provider that refuses fresh tokens
// refuses the credential.
const renewalInterval = time.Minute

// accessToken is a token that a provider issued.
type accessToken struct {
	value string
	until time.Time // zero means until the provider refuses it
}

// tokenKeeper obtains the token of one credential and keeps it during a run. It is safe for concurrent use.
type tokenKeeper struct {
	obtain func(ctx context.Context) (accessToken, error)
	now    func() time.Time

	mu      sync.Mutex
	token   accessToken
	renewed time.Time // when a refused token was last replaced
}

// current returns the token. It obtains one if there is none, or if it is about to expire.
func (k *tokenKeeper) current(ctx context.Context) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.token.value == "" || !k.token.until.IsZero() && !k.now().Before(k.token.until) {
		return k.replace(ctx)
	}
	return k.token.value, nil
}

// renew replaces a token that the provider refused, unless another caller has done so. It returns false if a refused
// token was replaced a moment ago.
func (k *tokenKeeper) renew(ctx context.Context, refused string) (bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.token.value != refused {
		return true, nil
	}
	if !k.renewed.IsZero() && k.now().Sub(k.renewed) < renewalInterval {
		return false, nil
	}
	k.renewed = k.now()
	_, err := k.replace(ctx)
	return err == nil, err
}

func (k *tokenKeeper) replace(ctx context.Context) (string, error) {
	fresh, err := k.obtain(ctx)
	if err != nil {
		return "", err
	}
	k.token = fresh
	return fresh.value, nil
}

// tokenKeepers are the keepers of a run. Authenticators that make the same request share one.
type tokenKeepers struct {
	mu          sync.Mutex
	byComponent map[document.Component]*tokenKeeper
	byRequest   map[string]*tokenKeeper
}

// keeperOf returns the keeper of an authenticator.
func (p *program) keeperOf(ctx context.Context, r *rest.Run, c document.Component) (*tokenKeeper, error) {
	state := p.stateOf(r)
	all := &state.tokens
	all.mu.Lock()
	defer all.mu.Unlock()
	if k := all.byComponent[c]; k != nil {
		return k, nil
	}
	k := &tokenKeeper{now: r.Setup.Now}
	var id string
	var err error
	switch a := c.(type) {
	case *document.OAuth:
		e := &tokenExchange{OAuth: a, program: p, run: r, config: state.config}
		id, err = e.begin(k)
		k.obtain = e.obtain
	case *document.JWT:
		s := &signedToken{JWT: a, program: p, run: r}
		id, k.obtain = document.BaseOf(a).Path, s.obtain
	case *document.SessionToken:
		l := &login{SessionToken: a, program: p, run: r}
		id, err = l.identity(ctx)
		k.obtain = l.obtain
	case *document.LegacySession:
		l := &legacyLogin{LegacySession: a, program: p, run: r}
		id, err = l.begin(k)
		k.obtain = l.obtain
	}
	if err != nil {
		return nil, err
	}
	if same := all.byRequest[id]; same != nil {
		k = same
	}
	if all.byComponent == nil {
		all.byComponent, all.byRequest = map[document.Component]*tokenKeeper{}, map[string]*tokenKeeper{}
	}
	all.byComponent[c], all.byRequest[id] = k, k
	return k, nil
}

// usedToken is the token of a request.
type usedToken struct {
	keeper *tokenKeeper
	value  string
}

// addToken adds the current token of an authenticator.
func (p *program) addToken(ctx context.Context, r *rest.Run, c document.Component, d *draft) error {
	k, err := p.keeperOf(ctx, r, c)
	if err != nil {
		return err
	}
	token, err := k.current(ctx)
	if err != nil {
		return err
	}
	d.secrets = append(d.secrets, token)
	d.used = usedToken{k, token}
	state := p.stateOf(r)
	switch a := c.(type) {
	case *document.JWT:
		return addSignedToken(a, state, token, d)
	case *document.LegacySession:
		header, err := templateText(a.Header, state.context(a))
		d.header.Set(header, token)
		return err
	case *document.SessionToken:
		if key, ok := a.Request.(*document.SessionKey); ok {
			return addSessionKey(key, state, token, d)
		}
	}
	d.setBearer(token)
	return nil
}

// addSessionKey adds a session token where the document wants it.
func addSessionKey(key *document.SessionKey, state *runState, token string, d *draft) error {
	if key.Token.IsSet() {
		context := state.context(key)
		context.Set(expression.SessionToken, expression.StringValue(token))
		text, err := templateText(key.Token, context)
		if err != nil {
			return err
		}
		token = text
		d.secrets = append(d.secrets, token)
	}
	return inject(key.Inject, state, expression.StringValue(token), d)
}

// errRenew is the cause of a refusal after which the document asks for a fresh token.
var errRenew = errors.New("the provider refuses the token")

// renewToken lets a request be repeated once with a fresh token if the provider refuses its own one. Rebuild returns
// the request with the token that is current then.
func (u usedToken) renewToken(q *governhttp.Request, rebuild func(context.Context) (*governhttp.Request, error)) {
	if u.keeper == nil {
		return
	}
	classify := q.Classify
	if classify == nil {
		classify = connectorkit.ByStatus
	}
	q.Classify = func(resp *governhttp.Response) error {
		if resp.Status == 401 {
			return errors.Join(errRenew, &connectorkit.Error{Class: connectorkit.Unauthorized, Status: resp.Status})
		}
		return classify(resp)
	}
	q.Renew = func(ctx context.Context, resp *governhttp.Response, refused error) (*governhttp.Request, error) {
		if !errors.Is(refused, errRenew) {
			return nil, refused
		}
		renewed, err := u.keeper.renew(ctx, u.value)
		if err != nil {
			return nil, err
		}
		if !renewed {
			if err := classify(resp); err != nil {
				return nil, err
			}
			return nil, refused
		}
		again, err := rebuild(ctx)
		if err != nil {
			return nil, err
		}
		again.Classify, again.Renew = classify, nil
		return again, nil
	}
}

// send sends the request for a token. Its answer is the owner's concern: another status than 2xx, but for a passing
// trouble, means that the provider refuses the credential. It follows no redirect.
func (p *program) send(ctx context.Context, r *rest.Run, q governhttp.Request, handler document.Component,
) (expression.Value, error) {
	state := p.stateOf(r)
	q.NoRedirect = true
	q.Classify = func(resp *governhttp.Response) error {
		decided, err := inspectBy(handler, state, resp)
		if !decided {
			err = connectorkit.ByStatus(resp)
		}
		var e *connectorkit.Error
		switch {
		case resp.Status >= 200 && resp.Status < 300 && !decided:
			return connectorkit.WholeJSON(resp)
		case errors.As(err, &e) && e.Class != connectorkit.RateLimited && e.Class != connectorkit.Unavailable,
			err != nil && e == nil:
			return refusedLogin(resp.Status, e)
		}
		return err
	}
	resp, err := r.Client.Do(ctx, q)
	if err != nil {
		return expression.Value{}, err
	}
	answer, err := expression.ParseJSON(resp.Body)
	if err != nil {
		return expression.Value{}, connectorkit.Fail(connectorkit.Malformed,
			errors.New("the answer to a sign-in is not JSON"))
	}
	return answer, nil
}

// refusedLogin returns the error of a credential that the provider does not exchange for a token.
func refusedLogin(status int, why *connectorkit.Error) error {
	e := &connectorkit.Error{Class: connectorkit.Unauthorized, Status: status,
		OwnerMessage: "The provider refuses the sign-in: a password or token was withdrawn, has expired or is wrong. " +
			"Enter it again."}
	if why != nil && why.OwnerMessage != "" {
		e.OwnerMessage = why.OwnerMessage
	}
	return e
}
