// Package life is the pages on which an owner reads what happened: the timeline of all
// sources, conversations, files, and what was measured and paid.
//
// How a stream is shown is what its connector declares of it (api.Display): a kind, and the
// fields that play a part. No page knows a connector by name. What records say is text of
// others, never markup, and nothing of it is loaded from anywhere.
package life

import (
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/a-h/templ"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// Config is what the pages need. All members must be set.
type Config struct {
	Owner api.Owner
	// Now gives the time in the zone that pages show, and by which days begin.
	Now func() time.Time
	Log *slog.Logger
}

type pages struct{ Config }

// Routes gives the addresses. All of them are for a signed-in owner alone.
func Routes(c Config) []ui.Route {
	p := &pages{c}
	var all []ui.Route
	for _, r := range []struct {
		pattern string
		handle  http.HandlerFunc
	}{
		{"GET /records/timeline", p.timeline},
		{"GET /records/figures", p.figures},
		{"GET " + gallery.address, p.files},
		{"GET " + mail.address, p.listed(mail)},
		{"GET " + documents.address, p.listed(documents)},
		{"GET " + code.address, p.listed(code)},
		{"GET " + places.address, p.places},
		{"GET /records/reading/{connection}/{stream}/{key}", p.read},
		{"GET /records/conversations", p.conversations},
		{"GET /records/conversations/{connection}/{stream}/{thread}", p.conversation},
	} {
		all = append(all, ui.Route{Pattern: r.pattern, Handler: r.handle})
	}
	return all
}

// show answers with a page of the records.
func (p *pages) show(w http.ResponseWriter, r *http.Request, title string, body templ.Component) {
	f := ui.Frame{Title: title, Active: "records", Now: p.Now(), Flash: ui.TakeFlash(w, r)}
	runtime, err := p.Owner.Runtime(r.Context())
	p.note(r, err) // the page is worth showing without the word on the runtime
	f.Watched, f.Indicator = err == nil, runtime.Indicator
	ui.Render(w, r, http.StatusOK, ui.Page(f, body))
}

// fail answers with what went wrong, and logs what is not the owner's matter.
func (p *pages) fail(w http.ResponseWriter, r *http.Request, err error) {
	p.note(r, err)
	ui.Fail(w, r, ui.Frame{Active: "records", Now: p.Now()}, err)
}

// note logs an error that no owner can fix. One who left is not an error.
func (p *pages) note(r *http.Request, err error) {
	var known *api.Error
	if err == nil || r.Context().Err() != nil || errors.As(err, &known) && known.Status < http.StatusInternalServerError {
		return
	}
	p.Log.ErrorContext(r.Context(), "a page failed", "route", r.Pattern, "error", err)
}
