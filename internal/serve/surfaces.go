package serve

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/deviceapi"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/assistant"
	"github.com/pdpp-go/pdpp/internal/owner/console"
	"github.com/pdpp-go/pdpp/internal/owner/routes"
	"github.com/pdpp-go/pdpp/internal/owner/service"
	"github.com/pdpp-go/pdpp/internal/owner/service/audited"
	"github.com/pdpp-go/pdpp/internal/owner/service/devices"
	"github.com/pdpp-go/pdpp/internal/schedule/notify"
	"github.com/pdpp-go/pdpp/internal/share/embedding"
	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/share/mcp"
	"github.com/pdpp-go/pdpp/internal/share/oauth"
	"github.com/pdpp-go/pdpp/internal/share/readapi"
	"github.com/pdpp-go/pdpp/internal/share/triggers"
	"github.com/pdpp-go/pdpp/internal/share/webhooks"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/web/auth"
	"github.com/pdpp-go/pdpp/internal/web/server"
)

// surfaces returns a function that mounts the routes of owner, clients and devices. A worker has none besides its
// health. Open pages end with ctx.
func (s *process) surfaces(ctx context.Context) (func(*http.ServeMux), error) {
	if s.Role == Worker || s.Auth == nil {
		return nil, nil
	}
	base := strings.TrimRight(s.Base, "/")
	if base == "" {
		base = "http://" + reachable(s.Listener.Addr())
	}
	if err := s.Store.PutSetting(ctx, devices.AddressSetting, []byte(base), s.Now()); err != nil {
		return nil, fmt.Errorf("keep the server's address: %w", err)
	}
	cursors, err := grants.NewCursors(ctx, s.Store, s.Now())
	if err != nil {
		return nil, fmt.Errorf("make the key of cursors: %w", err)
	}
	shared := grants.NewService(s.Store, base, s.Now)
	shared.Documents = oauth.PublicDocuments{}
	database := "sqlite"
	if s.Database.Postgres != nil {
		database = "postgres"
	}
	asked, beat := func() {}, (func(context.Context) error)(nil)
	if s.scheduler != nil {
		asked, beat = s.scheduler.Nudge, s.scheduler.Beat
	}
	owner := service.New(service.Config{
		Asked: asked, Beat: beat, MayConfirm: s.Auth.MayConfirmPrograms, MayAddSources: s.Auth.MayAddSources,
		Store: s.Store, Connectors: s.Connectors, Key: func() (credential.Key, error) { return s.Key, nil },
		GrantService: shared, Access: s.Auth,
		VAPID: func(context.Context) (notify.VAPID, error) { return s.VAPID, nil }, PushKey: s.VAPID.Public, Base: base,
		HTTP: s.HTTP, Version: s.Worker.Version, Home: s.Home, Database: database, Files: s.Blobs.Place, Now: s.Now,
		Lookup: s.Lookup, DeletionTime: deletionTime, ForgetPicture: s.forgetPicture,
	})
	s.background.Go(func() { s.sweepUploads(ctx, owner) })
	s.background.Go(func() { s.lookForFiles(ctx, owner) })
	everything := audited.NewAuditedOwner(owner, s.Audit)
	connectors := catalog.Remember(s.Connectors)
	var pictures console.Pictures
	if s.Thumbnails != nil {
		pictures = s.Thumbnails
		s.background.Go(func() { s.sweepThumbnails(ctx) })
	}
	return func(mux *http.ServeMux) {
		for _, route := range routes.Routes(everything, s.Log) {
			mux.Handle(route.Pattern, s.Auth.Owner(route.Scope, route.Handle))
		}
		for _, route := range deviceapi.Routes(s.deviceRoutes(ctx, connectors)) {
			mux.Handle(route.Pattern, route.Handle)
		}
		read := readapi.New(readapi.Config{Grants: shared, Cursors: cursors, Store: s.Store,
			Blobs: s.Blobs.Place, IsOwner: s.Auth.IsOwner, Strangers: s.Auth.Strangers(), Audit: s.Audit, Now: s.Now,
			Log: s.Log, Metadata: base + "/.well-known/oauth-protected-resource", Ending: ctx.Done(),
			Meaning: &embedding.Searcher{Store: s.Store, Key: func() (credential.Key, error) { return s.Key, nil }}})
		for _, route := range read.Routes() {
			mux.Handle(route.Pattern, route.Handle)
		}
		subscriptions := &webhooks.Subscriptions{Store: s.Store, Read: read, Key: s.Key, Audit: s.Audit, Now: s.Now}
		for _, route := range subscriptions.Routes() {
			mux.Handle(route.Pattern, route.Handle)
		}
		mux.Handle(mcp.Path, s.assistants(read, everything, base))
		for _, route := range oauth.Routes(oauth.Config{Grants: shared, Issuer: base, IsOwnerToken: s.Auth.IsOwnerToken,
			Strangers: s.Auth.Strangers(), Log: s.Log}) {
			mux.Handle(route.Pattern, route.Handle)
		}
		for _, route := range triggers.Routes(triggers.Config{Store: s.Store, Key: s.Key, Asked: asked, Now: s.Now,
			Log: s.Log}) {
			mux.Handle(route.Pattern, route.Handle)
		}
		for _, route := range s.Auth.Routes(formPage) {
			mux.Handle(route.Pattern, server.PageHeaders(route.Handle))
		}
		mux.Handle(workerPage, s.receiveWorkerPage(ctx.Done()))
		mux.HandleFunc(server.OpenAPI().Pattern, server.OpenAPI().Handle)
		console.Mount(mux, console.Config{
			Owner: everything, Auth: s.Auth, Now: s.Now, Log: s.Log, PageHeaders: server.PageHeaders,
			Ending: ctx.Done(), Base: base, Surface: s.pages, Pictures: pictures,
		})
	}, nil
}

// assistants returns the handler for programs of the Model Context Protocol. It reads through the routes of clients.
func (s *process) assistants(read *readapi.API, owner api.Owner, base string) http.Handler {
	routes := http.NewServeMux()
	for _, route := range read.AssistantRoutes() {
		routes.Handle(route.Pattern, route.Handle)
	}
	return mcp.Handler(mcp.HTTPConfig{
		Routes: routes, Owner: assistant.Owner{Facts: owner}, Version: s.Worker.Version, Log: s.Log,
		Admit: func(r *http.Request) (isOwner bool, err error) {
			who, err := read.Admit(r)
			return err == nil && who.Grant() == nil, err
		},
		Refuse: func(w http.ResponseWriter, r *http.Request, err error) {
			read.Refuse(w, r, err, base+mcp.MetadataPath)
		},
	})
}

// formPage shows one of the forms that ask who is there.
func formPage(w http.ResponseWriter, r *http.Request, status int, f auth.Form) {
	console.FormPage(w, r, status, console.Form{Action: f.Action, Next: f.Next, Message: f.Message, Passkey: f.Passkey})
}

// reachable is an address of a listener that a browser on this machine can open: one that listens
// everywhere is found by the loopback address, which providers that refuse names accept too.
func reachable(a net.Addr) string {
	if tcp, ok := a.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", strconv.Itoa(tcp.Port))
	}
	return a.String()
}
