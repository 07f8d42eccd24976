// Package watch is the part of the console that an owner looks at: all connections
// at a glance, one connection, one run, and what changes in them while the page is
// open.
//
// A page shows the verdict of package view as it stands. It is made of parts with ids;
// one hub makes the parts of every open page anew, once for everybody who looks at
// it, and sends those that changed.
package watch

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// Config is what the pages are made of.
type Config struct {
	Owner api.Owner
	// Now gives the time in the zone that pages show.
	Now func() time.Time
	Log *slog.Logger
	// SignedIn is asked again while events are sent, so that they end with the
	// session; nil means always.
	SignedIn func(*http.Request) bool
	// Ending is closed when the server ends, so that events do not hold it up; nil
	// means never.
	Ending <-chan struct{}
	// Base is where this server is, as it was configured or as it listens. Providers send the
	// owner back there, so that it is never taken from a request.
	Base string
	// Surface shows the pages of runs' browsers; nil means that there are none here.
	Surface Surface
}

// Pages answers the addresses of this part of the console.
type Pages struct {
	owner    api.Owner
	now      func() time.Time
	log      *slog.Logger
	signedIn func(*http.Request) bool
	ending   <-chan struct{}
	base     string
	surface  Surface
	hub      *hub
}

// New makes the pages. They need nothing to be closed: what runs for open pages
// ends with the last of them.
func New(c Config) *Pages {
	p := &Pages{owner: c.Owner, now: c.Now, log: c.Log, signedIn: c.SignedIn, ending: c.Ending, base: c.Base, surface: c.Surface}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	if p.signedIn == nil {
		p.signedIn = func(*http.Request) bool { return true }
	}
	p.hub = newHub(p.log)
	return p
}

// Routes lists the addresses. All of them are for the signed-in owner.
func (p *Pages) Routes() []ui.Route {
	route := func(pattern string, handle http.HandlerFunc) ui.Route {
		return ui.Route{Pattern: pattern, Handler: handle}
	}
	return []ui.Route{
		route("GET /{$}", p.getDashboard),
		route("GET /events", p.getDashboardEvents),
		route("GET /connections/{id}", p.getConnection),
		route("GET /connections/{id}/events", p.getConnectionEvents),
		route("POST /connections/{id}/run", p.postRun),
		route("POST /connections/{id}/credential", p.postCredential),
		route("POST /connections/{id}/acknowledge", p.postAcknowledge),
		route("POST /connections/{id}/rename", p.postRename),
		route("POST /connections/{id}/schedule", p.postSchedule),
		route("POST /connections/{id}/limits", p.postLimits),
		route("POST /connections/{id}/selection", p.postSelection),
		route("POST /connections/{id}/revoke", p.postRevoke),
		route("GET /connections/{id}/page", p.getSurface),
		route("POST /connections/{id}/page", p.postSurface),
		route("GET /connections/{id}/page/stream", p.getSurfaceStream),
		route("POST /connections/{id}/page/answer", p.postSurfaceAnswer),
		route("GET /connections/{id}/allow", p.getAllow),
		route("POST /connections/{id}/allow", p.postAllow),
		route("POST /connections/{id}/allow/app", p.postAllowApp),
		route("GET /connections/{id}/allow/wait", p.getAllowWait),
		route("GET "+api.CallbackPath, p.getCallback),
		route("GET /add/{connector}/device", p.getNewDevice),
		route("POST /add/{connector}/device", p.postNewDevice),
		route("GET /devices/codes/{id}", p.getPairing),
		route("GET /devices/codes/{id}/events", p.getPairingEvents),
		route("POST /devices/codes/{id}/cancel", p.postCancelCode),
		route("GET /runs", p.getRuns),
		route("GET /runs/{id}", p.getRun),
		route("GET /runs/{id}/events", p.getRunEvents),
		route("POST /runs/{id}/cancel", p.postCancel),
		route("POST /runs/{id}/answer", p.postAnswer),
	}
}

// fail answers for an error, and logs the ones that no owner can do anything about.
func (p *Pages) fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // nobody waits for the answer
	}
	var known *api.Error
	if !errors.As(err, &known) {
		p.log.ErrorContext(r.Context(), "a page failed", "route", r.Pattern, "request_id", w.Header().Get("Request-Id"), "error", err)
	}
	ui.Fail(w, r, ui.Frame{Active: "connections", Now: p.now()}, err)
}

// here is a moment in the zone that pages show.
func (p *Pages) here(t time.Time) time.Time { return t.In(p.now().Location()) }

// Looking for what a page shows is bounded, so that no visitor waits for ever.
const lookTimeout = 20 * time.Second

func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, lookTimeout)
}

// Addresses of pages. Ids may hold any character.
func connectionPath(id string) string { return "/connections/" + url.PathEscape(id) }
func runPath(id string) string        { return "/runs/" + url.PathEscape(id) }
func askPath(id string) string        { return connectionPath(id) + "#ask" }
func jsonPath(id string) string       { return "/_ref/connections/" + url.PathEscape(id) }
func recordsPath(id, stream string) string {
	q := url.Values{"connection": {id}}
	if stream != "" {
		q.Set("stream", stream)
	}
	return "/records?" + q.Encode()
}
