package serve

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"pdpp/internal/keep/credential"
	"pdpp/internal/owner/console"
	"pdpp/internal/owner/routes"
	"pdpp/internal/owner/service"
	"pdpp/internal/owner/service/audited"
	"pdpp/internal/share/grants"
	"pdpp/internal/share/oauth"
	"pdpp/internal/share/readapi"
	"pdpp/internal/web/auth"
	"pdpp/internal/web/server"
)

// surfaces gives what mounts the owner's pages and routes and those of clients. A
// worker has none: it answers for its own health alone. The pages end with ctx.
func (s *process) surfaces(ctx context.Context) (func(*http.ServeMux), error) {
	if s.Role == Worker || s.Door == nil {
		return nil, nil
	}
	base := strings.TrimRight(s.Base, "/")
	if base == "" {
		base = "http://" + s.Listener.Addr().String()
	}
	cursors, err := grants.NewCursors(ctx, s.Store, s.Now())
	if err != nil {
		return nil, fmt.Errorf("make the key of cursors: %w", err)
	}
	book := grants.NewBook(s.Store, base, s.Now)
	database := "sqlite"
	if s.Database.Postgres != nil {
		database = "postgres"
	}
	everything := audited.Owner(service.New(service.Config{
		Store: s.Store, Connectors: s.Connectors, Key: func() (credential.Key, error) { return s.Key, nil }, Book: book, Access: s.Door,
		VAPID: s.VAPID, Base: base, HTTP: s.HTTP, Version: s.Worker.Version, Home: s.Home, Database: database, Now: s.Now,
	}), s.Audit)
	return func(mux *http.ServeMux) {
		for _, route := range routes.Routes(everything, s.Log) {
			mux.Handle(route.Pattern, s.Door.Owner(route.Scope, route.Handle))
		}
		for _, route := range readapi.Routes(readapi.Config{Book: book, Cursors: cursors, Store: s.Store, IsOwner: s.Door.IsOwner, Strangers: s.Door.Strangers(), Audit: s.Audit, Now: s.Now, Log: s.Log}) {
			mux.Handle(route.Pattern, route.Handle)
		}
		for _, route := range oauth.Routes(oauth.Config{Book: book, Issuer: base, IsOwnerToken: s.Door.IsOwnerToken, Strangers: s.Door.Strangers(), Log: s.Log}) {
			mux.Handle(route.Pattern, route.Handle)
		}
		for _, route := range s.Door.Routes(formPage) {
			mux.Handle(route.Pattern, server.PageHeaders(route.Handle))
		}
		mux.Handle("GET /openapi.json", server.OpenAPI())
		console.Mount(mux, console.Config{
			Owner: everything, Door: s.Door, Now: s.Now, Log: s.Log, PageHeaders: server.PageHeaders,
			Ending: ctx.Done(),
		})
	}, nil
}

// formPage shows one of the forms that ask who is there.
func formPage(w http.ResponseWriter, r *http.Request, status int, f auth.Form) {
	console.FormPage(w, r, status, console.Form{Action: f.Action, Next: f.Next, Message: f.Message, Passkey: f.Passkey})
}
