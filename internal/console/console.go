// Package console puts the owner's pages together: the frame and its files, the
// pages to look at, the pages to manage, and the door before them.
package console

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"pdpp/internal/console/manage"
	"pdpp/internal/console/ui"
	"pdpp/internal/console/watch"
	"pdpp/internal/ownerapi"
)

// Door lets only the signed-in owner through.
type Door interface {
	Pages(next http.Handler) http.Handler
}

// Config is what the console is made of. All members but Ending must be set.
type Config struct {
	Owner ownerapi.Owner
	Door  Door
	// Now gives the time in the zone that pages show.
	Now func() time.Time
	Log *slog.Logger
	// PageHeaders sets the policy of pages.
	PageHeaders func(http.Handler) http.Handler
	// ChangePassword is that of manage.Config.
	ChangePassword func(ctx context.Context, current, next string) error
	// Ending is closed when the server begins to end, so that open pages do not hold
	// it up; nil means never.
	Ending <-chan struct{}
}

// Mount adds the pages. The ways in and out are the door's own: it is given LoginPage.
func Mount(mux *http.ServeMux, c Config) {
	pages := watch.New(watch.Config{
		Owner: c.Owner, Now: c.Now, Log: c.Log, Ending: c.Ending,
		SignedIn: func(r *http.Request) bool { return stillSignedIn(c.Door, r) },
	})
	routes := append(pages.Routes(), manage.Routes(manage.Config{
		Owner: c.Owner, Now: c.Now, Log: c.Log, ChangePassword: c.ChangePassword,
	})...)
	for _, r := range routes {
		mux.Handle(r.Pattern, c.PageHeaders(c.Door.Pages(r.Handler)))
	}
	// Files hold nothing of the owner's, and the page for signing in needs them.
	mux.Handle("GET /assets/{name}", c.PageHeaders(http.HandlerFunc(ui.ServeAsset)))
	mux.Handle("GET /push-worker.js", c.PageHeaders(http.HandlerFunc(ui.ServePushWorker)))
}

// LoginPage shows the form for signing in.
func LoginPage(w http.ResponseWriter, r *http.Request, status int, message string) {
	ui.Render(w, r, status, ui.Bare("Sign in", manage.Login(message, r.FormValue("next"))))
}

// stillSignedIn asks the door again about a request that it once let through. A door
// that cannot tell, because its store does not answer, has not refused.
func stillSignedIn(d Door, r *http.Request) bool {
	admitted := false
	answer := &statusOnly{header: http.Header{}, status: http.StatusOK}
	d.Pages(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { admitted = true })).ServeHTTP(answer, r)
	return admitted || answer.status >= http.StatusInternalServerError
}

// statusOnly keeps the status of an answer and drops the rest.
type statusOnly struct {
	header http.Header
	status int
}

func (s *statusOnly) Header() http.Header         { return s.header }
func (s *statusOnly) WriteHeader(status int)      { s.status = status }
func (s *statusOnly) Write(b []byte) (int, error) { return len(b), nil }
