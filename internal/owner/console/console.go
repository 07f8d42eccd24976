// Package console puts the owner's pages together: the frame and its files, the
// pages to look at, the pages to manage, those to read what happened, and the sign-in before them.
package console

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/life"
	"github.com/pdpp-go/pdpp/internal/owner/console/manage"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
	"github.com/pdpp-go/pdpp/internal/owner/console/watch"
)

// Auth lets only the signed-in owner through, and to some only one who has shown lately
// that it is them.
type Auth interface {
	Pages(next http.Handler) http.Handler
	Confirmed(next http.Handler) http.Handler
	Fresh(ctx context.Context) bool
	PasskeysAt(r *http.Request) bool
}

// Config is what the console is made of. All members but Ending, Surface and
// Pictures must be set.
type Config struct {
	Owner api.Owner
	Auth  Auth
	// Now gives the time in the zone that pages show.
	Now func() time.Time
	Log *slog.Logger
	// PageHeaders sets the policy of pages.
	PageHeaders func(http.Handler) http.Handler
	// Ending is closed when the server begins to end, so that open pages do not hold
	// it up; nil means never.
	Ending <-chan struct{}
	// Base is where this server is: providers send the owner back there.
	Base string
	// Surface shows the pages of runs' browsers; nil means that there are none here.
	Surface watch.Surface
	// Pictures gives small pictures of files; nil means that icons stand for them.
	Pictures Pictures
}

// Pictures gives small pictures of the files of records.
type Pictures = manage.Pictures

// Mount adds the pages. The ways in and out are Auth's own: it is given FormPage.
func Mount(mux *http.ServeMux, c Config) {
	pages := watch.New(watch.Config{
		Owner: c.Owner, Now: c.Now, Log: c.Log, Ending: c.Ending, Base: c.Base, Surface: c.Surface,
		SignedIn: func(r *http.Request) bool { return stillSignedIn(c.Auth, r) },
	})
	routes := append(pages.Routes(), manage.Routes(manage.Config{
		Owner: c.Owner, Now: c.Now, Log: c.Log, Fresh: c.Auth.Fresh, Confirmed: c.Auth.Confirmed,
		PasskeysAt: c.Auth.PasskeysAt, Base: c.Base, Pictures: c.Pictures,
	})...)
	routes = append(routes, life.Routes(life.Config{Owner: c.Owner, Now: c.Now, Log: c.Log})...)
	for _, r := range routes {
		handler := r.Handler
		if r.Confirm {
			handler = c.Auth.Confirmed(handler)
		}
		mux.Handle(r.Pattern, c.PageHeaders(c.Auth.Pages(handler)))
	}
	// Files hold nothing of the owner's, and the page for signing in needs them.
	mux.Handle("GET /assets/{name}", c.PageHeaders(http.HandlerFunc(ui.ServeAsset)))
	mux.Handle("GET /push-worker.js", c.PageHeaders(http.HandlerFunc(ui.ServePushWorker)))
}

// OwnLimits says which requests bring files, whose length their page bounds itself.
func OwnLimits(r *http.Request) bool { return manage.OwnLimits(r) }

// Form is a page that asks who is there.
type Form = manage.Form

// FormPage shows one.
func FormPage(w http.ResponseWriter, r *http.Request, status int, f Form) {
	ui.Render(w, r, status, ui.Bare(f.Title(), manage.Ask(f)))
}

// stillSignedIn asks Auth again about a request that it once let through. The session that
// was found then is not taken along: it may have ended. An Auth that cannot tell, because
// its store does not answer, has not refused.
func stillSignedIn(d Auth, r *http.Request) bool {
	bare, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer context.AfterFunc(r.Context(), cancel)()
	r = r.WithContext(bare)
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
