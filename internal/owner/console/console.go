// Package console puts the owner's pages together: the frame and its files, the
// pages to look at, the pages to manage, those to read what happened, and the sign-in before them.
package console

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/admin"
	"github.com/pdpp-go/pdpp/internal/owner/console/browse"
	"github.com/pdpp-go/pdpp/internal/owner/console/deliveries"
	"github.com/pdpp-go/pdpp/internal/owner/console/figures"
	"github.com/pdpp-go/pdpp/internal/owner/console/lookback"
	"github.com/pdpp-go/pdpp/internal/owner/console/people"
	"github.com/pdpp-go/pdpp/internal/owner/console/records"
	"github.com/pdpp-go/pdpp/internal/owner/console/semantic"
	"github.com/pdpp-go/pdpp/internal/owner/console/sourcefile"
	"github.com/pdpp-go/pdpp/internal/owner/console/status"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
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
	// Now returns the time in the zone that pages show.
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
	Surface status.Surface
	// Pictures returns thumbnails of files. If it is nil, pages show icons.
	Pictures Pictures
}

// Pictures returns thumbnails of the files of records.
type Pictures = records.Pictures

// Mount adds the pages to mux. Auth serves sign-in and sign-out, with FormPage as its page.
func Mount(mux *http.ServeMux, c Config) {
	menus := newMenuReader(c)
	pages := status.New(status.Config{
		Owner: c.Owner, Now: c.Now, Log: c.Log, Ending: c.Ending, Base: c.Base, Surface: c.Surface,
		KindOf:   menus.kindOf,
		SignedIn: func(r *http.Request) bool { return stillSignedIn(c.Auth, r) },
	})
	routes := append(pages.Routes(), admin.Routes(admin.Config{
		Owner: c.Owner, Now: c.Now, Log: c.Log, Fresh: c.Auth.Fresh, Confirmed: c.Auth.Confirmed,
		PasskeysAt: c.Auth.PasskeysAt, Base: c.Base,
	})...)
	routes = append(routes, records.Routes(records.Config{Owner: c.Owner, Now: c.Now, Log: c.Log,
		Pictures: c.Pictures})...)
	routes = append(routes, sourcefile.Routes(sourcefile.Config{Owner: c.Owner, Now: c.Now, Log: c.Log})...)
	routes = append(routes, deliveries.Routes(deliveries.Config{Owner: c.Owner, Now: c.Now, Log: c.Log})...)
	routes = append(routes, semantic.Routes(semantic.Config{Owner: c.Owner, Now: c.Now, Log: c.Log})...)
	routes = append(routes, browse.Routes(browse.Config{Owner: c.Owner, Now: c.Now, Log: c.Log, Asking: pages})...)
	// One address shows the changes of all sources, or of the one that it names.
	one := slices.IndexFunc(routes, func(r ui.Route) bool { return r.Pattern == lookback.ChangedPattern })
	ofSource := routes[one].Handler
	routes = append(slices.Delete(routes, one, one+1), lookback.Routes(lookback.Config{Owner: c.Owner, Now: c.Now,
		Log: c.Log, ChangesOfSource: ofSource})...)
	routes = append(routes, figures.Routes(figures.Config{Owner: c.Owner, Now: c.Now, Log: c.Log})...)
	routes = append(routes, people.Routes(people.Config{Owner: c.Owner, Now: c.Now, Log: c.Log})...)
	routes = append(routes, movedRoutes(c.Owner)...)
	ui.Mount(mux, routes, func(r ui.Route) http.Handler {
		handler := r.Handler
		if strings.Contains(r.Pattern, " /sources/{id}") {
			handler = menus.named(handler)
		}
		if r.Confirm {
			handler = c.Auth.Confirmed(handler)
		}
		return c.PageHeaders(c.Auth.Pages(menus.show(handler)))
	})
	// Files hold nothing of the owner's, and the page for signing in needs them.
	mux.Handle("GET /assets/{name}", c.PageHeaders(http.HandlerFunc(ui.ServeAsset)))
	mux.Handle("GET /push-worker.js", c.PageHeaders(http.HandlerFunc(ui.ServePushWorker)))
}

// OwnLimits reports whether a request uploads files. The page that receives such a request bounds
// its length.
func OwnLimits(r *http.Request) bool { return admin.OwnLimits(r) || sourcefile.SendsFile(r) }

// ShowNoPage shows that an address has no page. It shows nothing of the owner's.
func ShowNoPage(w http.ResponseWriter, r *http.Request) { ui.ShowNoPage(w, r) }

// Form is a page that asks who is there.
type Form = admin.Form

// FormPage shows one.
func FormPage(w http.ResponseWriter, r *http.Request, status int, f Form) {
	ui.Render(w, r, status, ui.Bare(f.Title(), admin.Ask(f)))
}

// stillSignedIn asks Auth again about a request that Auth admitted before. It does not pass on the
// session found then, because that session may have ended. An Auth that fails because of its store
// has not refused.
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
