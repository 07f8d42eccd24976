// Package semantic serves the page on which an owner turns searching by meaning on, and reads where texts are sent.
package semantic

import (
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
	"github.com/pdpp-go/pdpp/internal/owner/semantic"
)

// Config is what the page needs. All members must be set.
type Config struct {
	Owner api.Owner
	// Now returns the time in the zone that pages show.
	Now func() time.Time
	Log *slog.Logger
}

type meaningPages struct {
	Config
	*ui.Responder
}

// Routes returns the routes.
func Routes(c Config) []ui.Route {
	p := &meaningPages{c, ui.NewResponder(c.Owner, c.Now, c.Log)}
	return []ui.Route{
		{Pattern: "GET " + ui.MeaningAddress, Handler: http.HandlerFunc(p.page)},
		{Pattern: "POST " + ui.MeaningAddress, Handler: http.HandlerFunc(p.set)},
		{Pattern: "POST " + ui.MeaningAddress + "/off", Handler: http.HandlerFunc(p.end)},
	}
}

// meaningPage is how it goes, and the form for another endpoint.
type meaningPage struct {
	Search semantic.Search
	Typed  semantic.Endpoint // without the secret
	ui.FormProblem
}

func (p *meaningPages) page(w http.ResponseWriter, r *http.Request) {
	p.show(w, r, &meaningPage{FormProblem: ui.FormProblem{Status: http.StatusOK}})
}

func (p *meaningPages) show(w http.ResponseWriter, r *http.Request, page *meaningPage) {
	var err error
	if page.Search, err = p.Owner.SemanticSearch(r.Context()); err != nil {
		p.ShowFailure(w, r, "settings", err)
		return
	}
	if page.Text == "" {
		page.Typed = semantic.Endpoint{Kind: page.Search.Kind, Address: page.Search.Address, Model: page.Search.Model}
	}
	p.ShowPage(w, r, page.Status, p.PageFrame(w, r, "Search by meaning", "settings"), meaningBody(page, p.Now()))
}

func (p *meaningPages) set(w http.ResponseWriter, r *http.Request) {
	if !p.ParseForm(w, r, "settings") {
		return
	}
	typed := semantic.Endpoint{Kind: r.PostForm.Get("kind"), Address: strings.TrimSpace(r.PostForm.Get("address")),
		Model: strings.TrimSpace(r.PostForm.Get("model")), Secret: strings.TrimSpace(r.PostForm.Get("secret"))}
	if _, err := p.Owner.SetSemanticSearch(r.Context(), typed); err != nil {
		typed.Secret = ""
		p.show(w, r, &meaningPage{Typed: typed, FormProblem: p.ProblemOf(w, r, err)})
		return
	}
	ui.Done(w, r, ui.MeaningAddress, ui.Good("It is on. Texts of your records are being sent."))
}

func (p *meaningPages) end(w http.ResponseWriter, r *http.Request) {
	if err := p.Owner.EndSemanticSearch(r.Context()); err != nil {
		p.ShowFailure(w, r, "settings", err)
		return
	}
	ui.Done(w, r, ui.MeaningAddress, ui.Good("It is off. Nothing is sent any more, and what was computed is deleted."))
}
