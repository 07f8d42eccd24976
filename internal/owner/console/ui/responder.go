package ui

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/a-h/templ"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// RuntimeReader reads the state of the server, which every page shows in its frame.
type RuntimeReader interface {
	Runtime(ctx context.Context) (api.Runtime, error)
}

// Responder answers requests for pages and forms. It logs errors that the owner cannot fix.
type Responder struct {
	runtime RuntimeReader
	now     func() time.Time
	log     *slog.Logger
}

// NewResponder returns a Responder. Now returns the time in the zone that pages show.
func NewResponder(runtime RuntimeReader, now func() time.Time, log *slog.Logger) *Responder {
	return &Responder{runtime: runtime, now: now, log: log}
}

// PageFrame returns the frame of a page. If the server's state cannot be read, the frame leaves it out.
func (p *Responder) PageFrame(w http.ResponseWriter, r *http.Request, title, active string) Frame {
	f := Frame{Title: title, Active: active, Now: p.now(), Flash: TakeFlash(w, r)}
	runtime, err := p.runtime.Runtime(r.Context())
	p.LogFailure(r, err)
	f.Watched, f.Indicator = err == nil, runtime.Indicator
	return f
}

// ShowPage writes a page within its frame.
func (p *Responder) ShowPage(w http.ResponseWriter, r *http.Request, status int, f Frame, body templ.Component) {
	Render(w, r, status, Page(f, body))
}

// ShowFailure writes a page that explains an error, and logs the error if the owner cannot fix it.
func (p *Responder) ShowFailure(w http.ResponseWriter, r *http.Request, active string, err error) {
	p.LogFailure(r, err)
	ShowFailure(w, r, Frame{Active: active, Now: p.now()}, err)
}

// LogFailure logs an error that the owner cannot fix. It ignores nil and requests that were cancelled.
func (p *Responder) LogFailure(r *http.Request, err error) {
	var known *api.Error
	if err == nil || r.Context().Err() != nil || errors.As(err, &known) && known.Status < http.StatusInternalServerError {
		return
	}
	p.log.ErrorContext(r.Context(), "a page failed", "route", r.Pattern, "error", err)
}

// FormProblem is an error that a form shows: what went wrong, what to do next, and the field it is about.
type FormProblem struct {
	Param, Text string
	Status      int
}

// About returns the text of the problem if it is about the field, and "" otherwise.
func (p FormProblem) About(param string) string {
	if p.Param == param {
		return p.Text
	}
	return ""
}

// FieldProblem returns a problem that the page itself found in a field.
func FieldProblem(param, text string) FormProblem {
	return FormProblem{Param: param, Text: text, Status: http.StatusBadRequest}
}

// ProblemOf returns the problem that an error describes, and logs the error if the owner cannot fix it.
func (p *Responder) ProblemOf(w http.ResponseWriter, r *http.Request, err error) FormProblem {
	p.LogFailure(r, err)
	m, status := MessageFor(w, err)
	out := FormProblem{Text: m.Text, Status: status}
	if m.Next != "" {
		out.Text += " " + m.Next
	}
	var known *api.Error
	if errors.As(err, &known) {
		out.Param = known.Param
	}
	return out
}

const largestForm = 256 << 10

// ParseForm parses the fields of a form. If it cannot, it writes an error page and returns false.
func (p *Responder) ParseForm(w http.ResponseWriter, r *http.Request, active string) bool {
	r.Body = http.MaxBytesReader(w, r.Body, largestForm)
	err := r.ParseForm()
	if err == nil {
		return true
	}
	var large *http.MaxBytesError
	e := api.Invalid("", "This form could not be read.", "Go back and send it again.")
	if errors.As(err, &large) {
		e = api.Invalid("", "This form is too long.", "Go back and send less.")
		e.Status = http.StatusRequestEntityTooLarge
	}
	p.ShowFailure(w, r, active, e)
	return false
}

// PathSegment returns a decoded segment of the address. If it is not valid, it writes an error page and returns
// false.
func (p *Responder) PathSegment(w http.ResponseWriter, r *http.Request, name, active string) (string, bool) {
	text, err := Unsegment(r.PathValue(name))
	if err != nil {
		p.ShowFailure(w, r, active, api.NotFound("There is no such page.", "Follow a link from the list."))
		return "", false
	}
	return text, true
}
