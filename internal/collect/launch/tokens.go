package launch

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/pdpp-go/pdpp/internal/collect/providerauth"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// Reasons of runs whose connector was not started for want of an access token.
const (
	ReasonNotSignedIn runner.Reason = "sign_in_missing"
	ReasonSignInEnded runner.Reason = "sign_in_ended"
	ReasonNoToken     runner.Reason = "token_not_refreshed"
)

// errNotSignedIn means that the owner has not signed in at the provider.
var errNotSignedIn = errors.New("nobody has signed in at the provider")

// tokens gives a run the access token of its connection, and fresh ones while it goes on. The
// refresh token stays where it is.
func (l *Launcher) tokens(ctx context.Context, conn store.Connection, m *manifest.Manifest) (Secrets, error) {
	key, err := l.Tokens.Key()
	if err != nil {
		return Secrets{}, err
	}
	variable := m.OAuth().AccessTokenEnv
	source := providerauth.Source{ConnectionID: conn.ID, ConnectorID: conn.ConnectorID, Manifest: m}
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
	var mu sync.Mutex
	used := got.Generation
	return Secrets{
		Values: map[string]string{variable: got.Token.Reveal()}, CapturedAt: got.CapturedAt, SourceKey: key.For(conn.ID),
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
// not what it lacks. It speaks in the words of a connector, so that the same judgement follows.
func withoutToken(out *runner.Outcome, err error) bool {
	var rejected *providerauth.Rejected
	var trouble *providerauth.Trouble
	retry := true
	switch f := out.Failure; {
	case errors.Is(err, errNotSignedIn):
		f.Reason, f.Message = ReasonNotSignedIn, "Nobody has signed in at the provider. Sign in there."
		out.DoneError = &protocol.DoneError{Code: "credentials_missing", Message: f.Message, RecoveryHint: &protocol.RecoveryHint{Action: protocol.RefreshCredentials}}
	case errors.As(err, &rejected):
		f.Reason, f.Message = ReasonSignInEnded, rejected.Error()+" "+rejected.NextStep()
		out.DoneError = &protocol.DoneError{Code: "credential_rejected", Message: f.Message, RecoveryHint: &protocol.RecoveryHint{Action: protocol.RefreshCredentials}}
	case errors.As(err, &trouble):
		f.Reason, f.Message = ReasonNoToken, trouble.Error()+" "+trouble.NextStep()
		out.DoneError = &protocol.DoneError{Code: "provider_unavailable", Message: f.Message, Retryable: &retry, RecoveryHint: &protocol.RecoveryHint{Action: protocol.RetryByRuntime}}
	default:
		return false
	}
	return true
}
