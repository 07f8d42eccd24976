package connections

import (
	"context"
	"net"
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/collect/providerauth"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// signInAtProvider signs the owner in at the provider of a connection: with a link that returns to a local port, or
// with a code.
func signInAtProvider(ctx context.Context, inv *command.Invocation, o api.Owner, c api.Connector, connectionID string,
	byCode bool) error {
	if byCode || !c.Consent.Page {
		return signInByCode(ctx, inv, o, c, connectionID)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close()
	begun, err := o.BeginSignIn(ctx, connectionID, api.SignInWish{Redirect: "http://" + listener.Addr().String() +
		"/callback"})
	if err != nil {
		return err
	}
	answers := make(chan api.SignInAnswer, 1)
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			q := r.URL.Query()
			if r.URL.Path != "/callback" || q.Get("state") != begun.State {
				http.NotFound(w, r) // of another sign-in
				return
			}
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.Header().Set("Referrer-Policy", "no-referrer")
			_, _ = w.Write([]byte("You can close this page. The command continues.\n"))
			select {
			case answers <- api.SignInAnswer{State: begun.State, Code: q.Get("code"), Error: q.Get("error"),
				Scope: q.Get("scope")}:
			default: // it has one
			}
		})}
	go func() { _ = server.Serve(listener) }()
	defer shutDownCallback(context.WithoutCancel(ctx), server)
	// The owner needs the whole link, so secrets in it are not masked.
	output.Printf(inv.ErrOut, "Open this link and allow it at %s:\n  %s\n", output.SingleLine(c.DisplayName),
		output.SingleLine(begun.URL))
	waiting, cancel := context.WithDeadline(ctx, begun.ExpiresAt)
	defer cancel()
	select {
	case <-waiting.Done():
		return signInTimedOut(ctx)
	case got := <-answers:
		if got.Code == "" && got.Error == "" {
			got.Error = "invalid_request" // without either it would ask for a code
		}
		done, err := o.FinishSignIn(ctx, got)
		if err == nil {
			printSignedIn(inv, c, done)
		}
		return err
	}
}

// shutDownCallback stops the callback server after the browser has received its page, within two seconds.
func shutDownCallback(ctx context.Context, server *http.Server) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if server.Shutdown(ctx) != nil {
		_ = server.Close()
	}
}

func signInByCode(ctx context.Context, inv *command.Invocation, o api.Owner, c api.Connector,
	connectionID string) error {
	begun, err := o.BeginSignIn(ctx, connectionID, api.SignInWish{})
	if err != nil {
		return err
	}
	output.Printf(inv.ErrOut, "Open %s on any device and enter the code %s\n", output.SingleLine(begun.URL),
		output.SingleLine(begun.UserCode))
	waiting, cancel := context.WithDeadline(ctx, begun.ExpiresAt)
	defer cancel()
	every := time.NewTicker(time.Duration(max(begun.EverySeconds, 1)) * time.Second)
	defer every.Stop()
	for {
		select {
		case <-waiting.Done():
			return signInTimedOut(ctx)
		case <-every.C:
		}
		done, err := o.FinishSignIn(ctx, api.SignInAnswer{State: begun.State})
		if err != nil {
			return err
		}
		if done.Connected {
			printSignedIn(inv, c, done)
			return nil
		}
	}
}

func printSignedIn(inv *command.Invocation, c api.Connector, done api.SignInDone) {
	output.Printf(inv.ErrOut, "%s said yes.\n", output.SingleLine(c.DisplayName))
	for _, label := range done.Missing {
		output.Printf(inv.ErrOut, "Not allowed there, and so not collected: %s\n", output.SingleLine(label))
	}
}

func signInTimedOut(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return &failure.Error{Code: providerauth.CodeNotBegun, Exit: failure.ExitFailed,
		Message: "the sign-in took too long; nothing was connected", Next: "Connect it again."}
}

// registerProviderApp stores this server's registration at the provider if flags contain one.
func registerProviderApp(ctx context.Context, inv *command.Invocation, o api.Owner, c api.Connector,
	f connectFlags) error {
	if f.appID == "" {
		return nil
	}
	if c.Consent == nil {
		return failure.UsageError("this connector is not signed in to at a provider", "Leave --app-id out.")
	}
	app := api.ProviderApp{ClientID: f.appID}
	if f.secret != "" {
		text, err := readValueFile(inv, f.secret)
		if err != nil {
			return failure.UsageError("the file of the app's secret cannot be read: "+failure.RootCause(err).Error(),
				"Correct the path after --app-secret.")
		}
		app.ClientSecret = text
	}
	return o.SetProviderApp(ctx, c.ID, app)
}
