package launch

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/providerauth"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// Reasons of runs that did not start because there was no access token.
const (
	ReasonNotSignedIn runner.Reason = "sign_in_missing"
	ReasonSignInEnded runner.Reason = "sign_in_ended"
	ReasonNoToken     runner.Reason = "token_not_refreshed"
)

// errNotSignedIn means that the owner has not signed in at the provider.
var errNotSignedIn = errors.New("no one has signed in at the provider")

// accessTokens returns the access token of the run's connection, and fresh ones during the run. The connector never
// gets the refresh token.
func (l *Launcher) accessTokens(ctx context.Context, conn store.Connection, c catalog.Connector) (Secrets, error) {
	key, err := l.Tokens.Key()
	if err != nil {
		return Secrets{}, err
	}
	m := c.Manifest
	variable := m.OAuth().AccessTokenEnv
	source := providerauth.SignInSource{ConnectionID: conn.ID, ConnectorID: conn.ConnectorID, Manifest: m,
		PublicOnly: c.Declared}
	got, err := l.Tokens.Access(ctx, source, 0)
	if errors.Is(err, store.ErrNotFound) {
		if l.Lookup != nil {
			if value, _ := l.Lookup(variable); strings.TrimSpace(value) != "" {
				return Secrets{SourceKey: key.For(conn.ID)}, nil // the owner has set one for every run
			}
		}
		return Secrets{}, errNotSignedIn
	}
	if err != nil {
		return Secrets{}, err
	}
	values := map[string]string{variable: got.Token.Reveal()}
	if o := m.OAuth(); o.ClientIDForConnector {
		app, err := l.Tokens.App(ctx, source)
		if err != nil {
			return Secrets{}, err
		}
		values[o.ClientIDEnv] = app.ID
	}
	var mu sync.Mutex
	used := got.Generation
	return Secrets{
		Values: values, CapturedAt: got.CapturedAt, SourceKey: key.For(conn.ID),
		Renew: func(ctx context.Context) (map[string]string, error) {
			mu.Lock()
			defer mu.Unlock()
			fresh, err := l.Tokens.Access(ctx, source, used)
			if err != nil {
				return nil, err
			}
			used = fresh.Generation
			return map[string]string{variable: fresh.Token.Reveal()}, nil
		},
	}, nil
}

// withoutToken completes the end of a run that could not get its access token; false when that is
// not what it lacks. It uses the words of a connector, so that the same judgement follows.
func withoutToken(out *runner.Outcome, err error) bool {
	var rejected *providerauth.Rejected
	var trouble *providerauth.Trouble
	retry := true
	switch f := out.Failure; {
	case errors.Is(err, errNotSignedIn):
		f.Reason, f.Message = ReasonNotSignedIn, "Nobody has signed in at the provider. Sign in there."
		out.DoneError = &protocol.DoneError{Code: "credentials_missing", Message: f.Message,
			RecoveryHint: &protocol.RecoveryHint{Action: protocol.RefreshCredentials}}
	case errors.As(err, &rejected):
		f.Reason, f.Message = ReasonSignInEnded, rejected.Error()+" "+rejected.NextStep()
		out.DoneError = &protocol.DoneError{Code: "credential_rejected", Message: f.Message,
			RecoveryHint: &protocol.RecoveryHint{Action: protocol.RefreshCredentials}}
	case errors.As(err, &trouble):
		f.Reason, f.Message = ReasonNoToken, trouble.Error()+" "+trouble.NextStep()
		out.DoneError = &protocol.DoneError{Code: "provider_unavailable", Message: f.Message, Retryable: &retry,
			RecoveryHint: &protocol.RecoveryHint{Action: protocol.RetryByRuntime}}
	default:
		return false
	}
	return true
}
