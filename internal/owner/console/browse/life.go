// Package browse serves the pages on which an owner reads what happened: the timeline of all
// sources, conversations, files, measurements and payments.
//
// The connector declares how a stream is shown (api.Display): a kind, and the fields that have a
// role. No page knows a connector by name. Record content is untrusted text, never markup, and
// pages load nothing that it refers to.
package browse

import (
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
	// Now returns the time in the zone that pages show. Days begin in that zone.
	Now func() time.Time
	Log *slog.Logger
	// Asking makes the parts of the first page about sources.
	Asking Asking
}

type browsePages struct {
	Config
	*ui.Responder
}

// Routes returns the routes. All of them require a signed-in owner.
func Routes(c Config) []ui.Route {
	p := &browsePages{c, ui.NewResponder(c.Owner, c.Now, c.Log)}
	var all []ui.Route
	for _, r := range []struct {
		pattern string
		handle  http.HandlerFunc
	}{
		{"GET /{$}", p.today},
		{"GET /timeline", p.timeline},
		{"GET /day/{day}", p.timeline},
		{"GET " + onThisDayPage, p.onThisDay},
		{"GET " + newerPage, p.newer},
		{"GET " + gallery.address, p.files},
		{"GET " + gallery.address + "/{connection}/{stream}/{key}", p.photo},
		{"GET " + mail.address, p.listed(mail)},
		{"GET " + documents.address, p.listed(documents)},
		{"GET " + code.address, p.listed(code)},
		{"GET " + places.address, p.places},
		{"GET /reading/{connection}/{stream}/{key}", p.read},
		{"GET /reading/{connection}/{stream}/{key}/page", p.readFrame},
		{"GET /conversations", p.conversations},
		{"GET /conversations/{connection}/{stream}/{thread}", p.conversation},
		{"GET /conversations/{connection}/{stream}/{thread}/context", p.conversationContext},
	} {
		all = append(all, ui.Route{Pattern: r.pattern, Handler: r.handle})
	}
	return all
}

// show answers with a page of the records.
func (p *browsePages) show(w http.ResponseWriter, r *http.Request, title string, body templ.Component) {
	p.ShowPage(w, r, http.StatusOK, p.PageFrame(w, r, title, ui.Section(r)), body)
}
