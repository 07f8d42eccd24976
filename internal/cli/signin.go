package cli

import (
	"context"
	"net"
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/providerauth"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// signInAtProvider lets the owner sign in at the provider of a connection: by a link whose answer
// comes to a port of this machine, or by a code.
func (a *app) signInAtProvider(ctx context.Context, o api.Owner, c api.Connector, connectionID string, byCode bool) error {
	if byCode || !c.Consent.Page {
		return a.signInByCode(ctx, o, c, connectionID)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close()
	begun, err := o.BeginSignIn(ctx, connectionID, api.SignInWish{Redirect: "http://" + listener.Addr().String() + "/callback"})
	if err != nil {
		return err
	}
	answers := make(chan api.SignInAnswer, 1)
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if r.URL.Path != "/callback" || q.Get("state") != begun.State {
			http.NotFound(w, r) // of another sign-in
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Referrer-Policy", "no-referrer")
		_, _ = w.Write([]byte("This page can be closed. The command goes on.\n"))
		select {
		case answers <- api.SignInAnswer{State: begun.State, Code: q.Get("code"), Error: q.Get("error"), Scope: q.Get("scope")}:
		default: // it has one
		}
	})}
	go func() { _ = server.Serve(listener) }()
	defer leave(context.WithoutCancel(ctx), server)
	printf(a.errOut, "Open this link and allow it at %s:\n  %s\n", oneLine(c.DisplayName), oneLine(begun.URL)) // the owner needs what is in it
	waiting, cancel := context.WithDeadline(ctx, begun.ExpiresAt)
	defer cancel()
	select {
	case <-waiting.Done():
		return a.notSignedIn(ctx, connectionID)
	case got := <-answers:
		if got.Code == "" && got.Error == "" {
			got.Error = "invalid_request" // without either it would ask for a code
		}
		done, err := o.FinishSignIn(ctx, got)
		if err == nil {
			a.saySignedIn(c, done)
		}
		return err
	}
}

// leave ends the server once the browser has its page, within a moment.
func leave(ctx context.Context, server *http.Server) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if server.Shutdown(ctx) != nil {
		_ = server.Close()
	}
}

func (a *app) signInByCode(ctx context.Context, o api.Owner, c api.Connector, connectionID string) error {
	begun, err := o.BeginSignIn(ctx, connectionID, api.SignInWish{})
	if err != nil {
		return err
	}
	printf(a.errOut, "Open %s on any device and enter the code %s\n", oneLine(begun.URL), oneLine(begun.UserCode))
	waiting, cancel := context.WithDeadline(ctx, begun.ExpiresAt)
	defer cancel()
	every := time.NewTicker(time.Duration(max(begun.EverySeconds, 1)) * time.Second)
	defer every.Stop()
	for {
		select {
		case <-waiting.Done():
			return a.notSignedIn(ctx, connectionID)
		case <-every.C:
		}
		done, err := o.FinishSignIn(ctx, api.SignInAnswer{State: begun.State})
		if err != nil {
			return err
		}
		if done.Connected {
			a.saySignedIn(c, done)
			return nil
		}
	}
}

func (a *app) saySignedIn(c api.Connector, done api.SignInDone) {
	printf(a.errOut, "%s said yes.\n", oneLine(c.DisplayName))
	for _, label := range done.Missing {
		printf(a.errOut, "Not allowed there, and so not collected: %s\n", oneLine(label))
	}
}

func (a *app) notSignedIn(ctx context.Context, connectionID string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return &Error{Code: providerauth.CodeNotBegun, Exit: ExitFailed, Message: "nobody signed in in time; the connection " + connectionID + " is there and waits for it",
		Next: "Sign in on the connection's page, or revoke it and connect again."}
}

// registerApp keeps how this server is registered at the provider, where that is given.
func (a *app) registerApp(ctx context.Context, o api.Owner, c api.Connector, f connectFlags) error {
	if f.appID == "" {
		return nil
	}
	if c.Consent == nil {
		return usage("this connector is not signed in to at a provider", "Leave --app-id out.")
	}
	app := api.ProviderApp{ClientID: f.appID}
	if f.secret != "" {
		text, err := a.valueFile(f.secret)
		if err != nil {
			return usage("the file of the app's secret cannot be read: "+cause(err).Error(), "Correct the path after --app-secret.")
		}
		app.ClientSecret = text
	}
	return o.SetProviderApp(ctx, c.ID, app)
}
