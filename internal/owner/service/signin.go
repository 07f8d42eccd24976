package service

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/providerauth"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/storage/audit"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// tokenKeeper signs in at providers.
func (s *Service) tokenKeeper() *providerauth.Keeper {
	return &providerauth.Keeper{Store: s.Store, Key: s.Key, Lookup: s.Lookup, Now: s.Now}
}

// sessionBinding identifies the actor, so that only the actor who began a sign-in can finish it.
func sessionBinding(ctx context.Context) string {
	by, _ := audit.ActorFrom(ctx)
	return string(by.Kind) + " " + by.ID
}

// signingIn finds the connection, which may be a draft, and what its connector declares of signing in.
func (s *Service) signingIn(ctx context.Context, id string) (store.Connection, providerauth.SignInSource, error) {
	conn, err := s.find.Connection(ctx, id)
	if err == nil && conn.Status == store.ConnectionRevoked {
		err = faults.ConnectionRevoked()
	}
	if err == nil {
		err = s.mayReceiveTokens(ctx, conn.ConnectorID)
	}
	if err != nil {
		return conn, providerauth.SignInSource{}, err
	}
	source, err := s.signInSource(ctx, conn.ID, conn.ConnectorID)
	return conn, source, err
}

// signInSource returns what a connector declares of signing in.
func (s *Service) signInSource(
	ctx context.Context,
	connectionID, connectorID string,
) (providerauth.SignInSource, error) {
	m, err := s.find.DeclaredManifest(ctx, connectorID)
	if err != nil {
		return providerauth.SignInSource{}, err
	}
	if m.OAuth() == nil {
		return providerauth.SignInSource{}, api.Invalid(
			"connection_id",
			m.DisplayName+" is not signed in to at the provider.",
			"Give it what its form asks for.",
		)
	}
	found, err := s.find.Connectors.Find(ctx, connectorID)
	return providerauth.SignInSource{ConnectionID: connectionID, ConnectorID: connectorID, Manifest: m,
		PublicOnly: err == nil && found.Declared}, nil
}

// mayReceiveTokens refuses a foreign connector that is not confirmed as it is now: its manifest names the
// addresses that the app's secret and the tokens are sent to.
func (s *Service) mayReceiveTokens(ctx context.Context, connectorID string) error {
	found, err := s.find.Connectors.Find(ctx, connectorID)
	if unusable := (*catalog.UnusableError)(nil); errors.As(err, &unusable) {
		return faults.OwnerError(err, "find the connector")
	}
	if err != nil {
		return nil // it is installed on another machine, and was recorded when it ran there
	}
	lack, err := launch.Unconfirmed(ctx, s.Store, found)
	if err != nil {
		return faults.OwnerError(err, "read what was confirmed")
	}
	if lack != nil {
		return &usererr.Error{Status: http.StatusConflict, Code: evidence.ReasonUnconfirmed, Message: "The connector " +
			lack.Error() + ".", Next: lack.Next}
	}
	return nil
}

// BeginSignIn begins a sign-in at the provider.
func (s *Service) BeginSignIn(ctx context.Context, id string, w api.SignInWish) (api.SignInBegun, error) {
	_, source, err := s.signingIn(ctx, id)
	if err != nil {
		return api.SignInBegun{}, err
	}
	var begun providerauth.Begun
	if w.Redirect == "" {
		begun, err = s.tokenKeeper().BeginCode(ctx, source, sessionBinding(ctx), w.Scopes)
	} else if !s.isOwnAddress(w.Redirect) {
		return api.SignInBegun{}, api.Invalid("redirect_uri", "Answers can go only to this server or this machine.",
			"Give the address of one of them.")
	} else {
		begun, err = s.tokenKeeper().Begin(ctx, source, sessionBinding(ctx), w.Redirect, w.Scopes)
	}
	if err != nil {
		return api.SignInBegun{}, signInError(err, "begin the sign-in")
	}
	return api.SignInBegun{State: begun.State, URL: begun.URL, UserCode: begun.UserCode,
		EverySeconds: int64(begun.Every.Seconds()), ExpiresAt: begun.ExpiresAt}, nil
}

// isOwnAddress reports whether an answer may be sent to the address: it holds what signs in.
func (s *Service) isOwnAddress(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.User != nil || u.Fragment != "" || u.RawQuery != "" {
		return false
	}
	if s.Base != "" && address == strings.TrimSuffix(s.Base, "/")+api.CallbackPath {
		return true
	}
	ip := net.ParseIP(u.Hostname())
	own := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	return own && u.Scheme == "http" && (u.Path == api.CallbackPath || u.Path == "/callback")
}

// FinishSignIn keeps what came of a sign-in, and sees to it that one run confirms it.
func (s *Service) FinishSignIn(ctx context.Context, a api.SignInAnswer) (api.SignInDone, error) {
	id, err := s.tokenKeeper().Whose(ctx, a.State, sessionBinding(ctx))
	if errors.Is(err, store.ErrNotFound) {
		id, err = "", nil // the token keeper returns its own error for an unknown sign-in
	}
	if err != nil {
		return api.SignInDone{}, faults.OwnerError(err, "find the sign-in")
	}
	done := api.SignInDone{ConnectionID: id, Missing: []string{}}
	var conn store.Connection
	source := providerauth.SignInSource{}
	if id != "" {
		if conn, source, err = s.signingIn(ctx, id); err != nil {
			return done, err
		}
	}
	var got providerauth.Done
	if a.Code == "" && a.Error == "" {
		got, done.Connected, err = s.tokenKeeper().Poll(ctx, source, a.State, sessionBinding(ctx))
	} else {
		got, err = s.tokenKeeper().Finish(ctx, source, a.State, sessionBinding(ctx),
			providerauth.ProviderAnswer{Code: a.Code, Error: a.Error, Scope: a.Scope})
		done.Connected = err == nil
	}
	if err != nil {
		return done, signInError(err, "finish the sign-in")
	}
	done.Missing = append(done.Missing, got.Missing...)
	if !done.Connected {
		return done, nil
	}
	if conn.Status == store.ConnectionDraft {
		if err := s.putInUse(ctx, conn); err != nil {
			return done, err
		}
	}
	return done, s.requestCheckRun(ctx, id)
}

// SetProviderApp keeps how this server is registered at a connector's provider.
func (s *Service) SetProviderApp(ctx context.Context, connectorID string, app api.ProviderApp) error {
	source, err := s.signInSource(ctx, "", connectorID)
	if err != nil {
		return err
	}
	return signInError(s.tokenKeeper().SetApp(ctx, source, app.ClientID, app.ClientSecret), "keep the registration")
}

// signInError returns the token keeper's owner-facing error unchanged. It converts other errors with OwnerError.
func signInError(err error, doing string) error {
	var f *usererr.Error
	if errors.As(err, &f) {
		return f
	}
	return faults.OwnerError(err, doing)
}
