// Package status serves the pages that show state to the owner: all connections, one connection,
// one run, and live changes while a page is open.
//
// A page shows the verdict of package view unchanged. It consists of parts with ids. One hub
// renders the parts of every open page, once for all subscribers, and sends the parts that
// changed.
package status

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
	// Now returns the time in the zone that pages show.
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
	// KindOf returns the class of the kind that a connection holds most of; nil means that none is known.
	KindOf func(connectionID string) string
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
	kindOf   func(connectionID string) string
	hub      *hub
}

// New makes the pages. They need nothing to be closed: what runs for open pages
// ends with the last of them.
func New(c Config) *Pages {
	p := &Pages{owner: c.Owner, now: c.Now, log: c.Log, signedIn: c.SignedIn, ending: c.Ending, base: c.Base,
		surface: c.Surface, kindOf: c.KindOf}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	if p.signedIn == nil {
		p.signedIn = func(*http.Request) bool { return true }
	}
	if p.kindOf == nil {
		p.kindOf = func(string) string { return "" }
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
		route("GET /sources", p.getDashboard),
		route("GET /sources/events", p.getDashboardEvents),
		route("GET /sources/{id}", p.getConnection),
		route("GET /sources/{id}/events", p.getConnectionEvents),
		route("POST /sources/{id}/run", p.postRun),
		route("POST /sources/{id}/credential", p.postCredential),
		route("POST /sources/{id}/acknowledge", p.postAcknowledge),
		route("POST /sources/{id}/rename", p.postRename),
		route("POST /sources/{id}/schedule", p.postSchedule),
		route("POST /sources/{id}/limits", p.postLimits),
		route("POST /sources/{id}/selection", p.postSelection),
		route("POST /sources/{id}/revoke", p.postRevoke),
		route("GET /sources/{id}/page", p.getSurface),
		route("POST /sources/{id}/page", p.postSurface),
		route("GET /sources/{id}/page/stream", p.getSurfaceStream),
		route("POST /sources/{id}/page/answer", p.postSurfaceAnswer),
		route("GET /sources/{id}/allow", p.getAllow),
		route("POST /sources/{id}/allow", p.postAllow),
		route("POST /sources/{id}/allow/app", p.postAllowApp),
		route("GET /sources/{id}/allow/wait", p.getAllowWait),
		route("GET "+api.CallbackPath, p.getCallback),
		route("GET /sources/add/{connector}/device", p.getNewDevice),
		route("POST /sources/add/{connector}/device", p.postNewDevice),
		route("GET /settings/devices/codes/{id}", p.getPairing),
		route("GET /settings/devices/codes/{id}/events", p.getPairingEvents),
		route("POST /settings/devices/codes/{id}/cancel", p.postCancelCode),
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
		return // the client has disconnected
	}
	var known *api.Error
	if !errors.As(err, &known) {
		p.log.ErrorContext(r.Context(), "a page failed", "route", r.Pattern, "request_id", w.Header().Get("Request-Id"),
			"error", err)
	}
	ui.ShowFailure(w, r, ui.Frame{Active: "sources", Now: p.now()}, err)
}

// here is a moment in the zone that pages show.
func (p *Pages) here(t time.Time) time.Time { return t.In(p.now().Location()) }

// Looking for what a page shows is bounded, so that no visitor waits for ever.
const lookTimeout = 20 * time.Second

func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, lookTimeout)
}

// Addresses of pages. Ids may hold any character.
func connectionPath(id string) string { return "/sources/" + url.PathEscape(id) }
func runPath(id string) string        { return "/runs/" + url.PathEscape(id) }
func changedPath(id string) string    { return "/changed?" + url.Values{"source": {id}}.Encode() }
func askPath(id string) string        { return connectionPath(id) + "#ask" }
func jsonPath(id string) string       { return "/_ref/connections/" + url.PathEscape(id) }
func recordsPath(id, stream string) string {
	q := url.Values{"connection": {id}}
	if stream != "" {
		q.Set("stream", stream)
	}
	return "/search?" + q.Encode()
}
