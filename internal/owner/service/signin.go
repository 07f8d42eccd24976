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
	"github.com/pdpp-go/pdpp/internal/keep/audit"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/ops/fault"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
)

// tokens signs in at providers.
func (s *Service) tokens() *providerauth.Keeper {
	return &providerauth.Keeper{Store: s.Store, Key: s.Key, Lookup: s.Lookup, Now: s.Now}
}

// binder names who acts, so that nobody else finishes what they began.
func binder(ctx context.Context) string {
	by, _ := audit.From(ctx)
	return string(by.Kind) + " " + by.ID
}

// signingIn finds the connection and what its connector declares of signing in.
func (s *Service) signingIn(ctx context.Context, id string) (providerauth.Source, error) {
	conn, err := s.find.Active(ctx, id)
	if err != nil {
		return providerauth.Source{}, err
	}
	if err := s.mayReceiveTokens(ctx, conn.ConnectorID); err != nil {
		return providerauth.Source{}, err
	}
	return s.source(ctx, conn.ID, conn.ConnectorID)
}

// source returns what a connector declares of signing in.
func (s *Service) source(ctx context.Context, connectionID, connectorID string) (providerauth.Source, error) {
	m, err := s.find.Declared(ctx, connectorID)
	if err != nil {
		return providerauth.Source{}, err
	}
	if m.OAuth() == nil {
		return providerauth.Source{}, api.Invalid("connection_id", m.DisplayName+" is not signed in to at the provider.", "Give it what its form asks for.")
	}
	return providerauth.Source{ConnectionID: connectionID, ConnectorID: connectorID, Manifest: m}, nil
}

// mayReceiveTokens refuses a foreign connector that is not confirmed as it is now: its manifest names the
// addresses that the app's secret and the tokens are sent to.
func (s *Service) mayReceiveTokens(ctx context.Context, connectorID string) error {
	found, err := s.find.Connectors.Find(ctx, connectorID)
	if unusable := (*catalog.UnusableError)(nil); errors.As(err, &unusable) {
		return faults.Error(err, "find the connector")
	}
	if err != nil {
		return nil // it is installed on another machine, and was recorded when it ran there
	}
	lack, err := launch.Unconfirmed(ctx, s.Store, found)
	if err != nil {
		return faults.Error(err, "read what was confirmed")
	}
	if lack != nil {
		return &fault.Fault{Status: http.StatusConflict, Code: evidence.ReasonUnconfirmed, Message: "The connector " +
			lack.Error() + ".", Next: lack.Next}
	}
	return nil
}

// BeginSignIn begins a sign-in at the provider.
func (s *Service) BeginSignIn(ctx context.Context, id string, w api.SignInWish) (api.SignInBegun, error) {
	source, err := s.signingIn(ctx, id)
	if err != nil {
		return api.SignInBegun{}, err
	}
	var begun providerauth.Begun
	if w.Redirect == "" {
		begun, err = s.tokens().BeginCode(ctx, source, binder(ctx), w.Scopes)
	} else if !s.ours(w.Redirect) {
		return api.SignInBegun{}, api.Invalid("redirect_uri", "Answers come to this server or to this machine alone.", "Give the address of one of them.")
	} else {
		begun, err = s.tokens().Begin(ctx, source, binder(ctx), w.Redirect, w.Scopes)
	}
	if err != nil {
		return api.SignInBegun{}, told(err, "begin the sign-in")
	}
	return api.SignInBegun{State: begun.State, URL: begun.URL, UserCode: begun.UserCode, EverySeconds: int64(begun.Every.Seconds()), ExpiresAt: begun.ExpiresAt}, nil
}

// ours reports whether an answer may be sent to the address: it holds what signs in.
func (s *Service) ours(address string) bool {
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
	id, err := s.tokens().Whose(ctx, a.State, binder(ctx))
	if errors.Is(err, store.ErrNotFound) {
		id, err = "", nil // the keeper says it in its words
	}
	if err != nil {
		return api.SignInDone{}, faults.Error(err, "find the sign-in")
	}
	done := api.SignInDone{ConnectionID: id, Missing: []string{}}
	source := providerauth.Source{}
	if id != "" {
		if source, err = s.signingIn(ctx, id); err != nil {
			return done, err
		}
	}
	var got providerauth.Done
	if a.Code == "" && a.Error == "" {
		got, done.Connected, err = s.tokens().Poll(ctx, source, a.State, binder(ctx))
	} else {
		got, err = s.tokens().Finish(ctx, source, a.State, binder(ctx), providerauth.Answer{Code: a.Code, Error: a.Error, Scope: a.Scope})
		done.Connected = err == nil
	}
	if err != nil {
		return done, told(err, "finish the sign-in")
	}
	done.Missing = append(done.Missing, got.Missing...)
	if !done.Connected {
		return done, nil
	}
	return done, s.confirm(ctx, id)
}

// SetProviderApp keeps how this server is registered at a connector's provider.
func (s *Service) SetProviderApp(ctx context.Context, connectorID string, app api.ProviderApp) error {
	source, err := s.source(ctx, "", connectorID)
	if err != nil {
		return err
	}
	return told(s.tokens().SetApp(ctx, source, app.ClientID, app.ClientSecret), "keep the registration")
}

// told passes on what the keeper says to the owner.
func told(err error, doing string) error {
	var f *fault.Fault
	if errors.As(err, &f) {
		return f
	}
	return faults.Error(err, doing)
}
