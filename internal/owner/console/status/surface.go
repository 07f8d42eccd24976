package status

import (
	"context"
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// Surface connects a window to the page of a run's browser, by WebSocket.
type Surface interface {
	// Serve returns when the window is closed, the owner is signed out, no question is left, or
	// the server ends. asked returns the active run and the question on its page; both may be
	// empty.
	Serve(w http.ResponseWriter, r *http.Request, signedIn func(*http.Request) bool,
		asked func(context.Context) (runID, question string, until *time.Time, err error), ending <-chan struct{})
}

// browserSource is the kind of a source that the owner signs in to through a browser on this
// server.
const browserSource = "browser_collector"

// surfaceShown is the content of the page around a run's browser.
type surfaceShown struct {
	api.Detail
	Question *api.Question
	opening  bool // a run was just asked for
}

// source is what the owner signs in to.
func (s *surfaceShown) source() string {
	if s.Connector != nil {
		return s.Connector.DisplayName
	}
	return s.DisplayName
}

// staged reports whether there is something to show, or will be.
func (s *surfaceShown) staged() bool { return s.opening || s.ActiveRun != nil }

func (s *surfaceShown) question() string {
	if s.Question == nil {
		return ""
	}
	return s.Question.RequestID
}

// openingMark is the query parameter that marks a run as just requested.
const openingMark = "opening"

func (p *Pages) getSurface(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := bounded(r.Context())
	defer cancel()
	d, err := p.owner.Connection(ctx, r.PathValue("id"))
	if err != nil {
		p.fail(w, r, err)
		return
	}
	if d.SourceKind != browserSource {
		p.fail(w, r, api.NotFound("This source has no page to sign in on.", "Look at the connection."))
		return
	}
	d.ObservedAt = p.here(d.ObservedAt)
	s := &surfaceShown{Detail: d, opening: r.URL.Query().Has(openingMark)}
	if d.ActiveRun != nil {
		if s.Question, err = p.question(ctx, d.ActiveRun.ID); err != nil {
			p.fail(w, r, err)
			return
		}
	}
	f := ui.Frame{Title: "Sign in to " + s.source(), Active: "sources", Watched: true, Indicator: d.Indicator,
		Now: d.ObservedAt, Flash: ui.TakeFlash(w, r)}
	ui.Render(w, r, http.StatusOK, ui.Page(f, surfacePage(s)))
}

// postSurface opens the page: by a run that asks for it, unless one is under way.
func (p *Pages) postSurface(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	run, _, _, err := p.asked(r.Context(), id)
	if err == nil && run == "" {
		err = p.owner.Run(r.Context(), id)
	}
	if err != nil {
		p.fail(w, r, err)
		return
	}
	p.hub.nudge()
	to := api.SignInPage(id) + "?" + openingMark
	if ui.Fragment(r) {
		w.Header().Set("HX-Redirect", to)
		w.WriteHeader(http.StatusNoContent)
		return
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// asked returns the active run of a connection, and the question on its page.
func (p *Pages) asked(ctx context.Context, id string) (runID, question string, until *time.Time, err error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	runs, err := p.owner.Runs(ctx, api.RunQuery{ConnectionID: id, Status: running, Limit: 1})
	if err != nil || len(runs) == 0 {
		return "", "", nil, err
	}
	q, err := p.question(ctx, runs[0].ID)
	if err != nil || q == nil || q.Page == "" {
		return runs[0].ID, "", nil, err
	}
	return runs[0].ID, q.RequestID, q.ExpiresAt, nil
}

func (p *Pages) getSurfaceStream(w http.ResponseWriter, r *http.Request) {
	if p.surface == nil {
		p.fail(w, r, api.NotFound("This server shows no pages of browsers.",
			"Open the console of the server that runs the connection."))
		return
	}
	id := r.PathValue("id")
	p.surface.Serve(w, r, p.signedIn,
		func(ctx context.Context) (string, string, *time.Time, error) { return p.asked(ctx, id) }, p.ending)
}

// postSurfaceAnswer is the owner's word that they are done, or will not do it. What the run
// finds out counts for more: it looks again whether the owner is signed in.
func (p *Pages) postSurfaceAnswer(w http.ResponseWriter, r *http.Request) {
	if !p.form(w, r) {
		return
	}
	id, status := r.PathValue("id"), r.PostForm.Get("status")
	run, question, _, err := p.asked(r.Context(), id)
	switch {
	case err == nil && question == "" && status == cancelled && run != "":
		err = p.owner.Cancel(r.Context(), run) // it has not come to its question
	case err == nil && question == "":
		err = api.NotFound("Nothing is asked on this page at the moment.",
			"Wait until the page is shown, or look at the connection.")
	case err == nil && r.PostForm.Get("interaction_id") != question:
		err = api.NotFound("The run asks something else now.", "Look at the page again.")
	case err == nil:
		err = p.owner.Answer(r.Context(), run, api.Answer{RequestID: question, Status: status})
	}
	message := "The run checks whether you are signed in, and continues if you are."
	if status == cancelled {
		message = "The page is closed. Nothing was collected."
	}
	p.done(w, r, err, connectionPath(id), ui.Good(message))
}

// cancelled is the answer of an owner who will not.
const cancelled = "cancelled"
