package status

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// mostEvents is how much of a timeline a page shows; mostPages bounds how far it is
// read to find the newest.
const (
	mostEvents = 100
	mostPages  = 40
)

// The statuses of a run that is under way, and of one that did what it should.
const (
	running   = "running"
	succeeded = "succeeded"
)

// oneRun is a run with everything that its page shows.
type oneRun struct {
	api.Run
	Connection api.Detail
	Question   *api.Question
	Events     []api.Event // the newest first
}

// timeline is what was read of a run's events so far.
type timeline struct {
	after  int64
	events []api.Event // the newest last
}

// read goes on where it stopped.
func (t *timeline) read(ctx context.Context, owner api.Owner, id string) error {
	for range mostPages {
		more, err := owner.Timeline(ctx, id, t.after)
		if err != nil {
			return err
		}
		if len(more) == 0 {
			return nil
		}
		t.after = more[len(more)-1].Seq
		t.events = append(t.events, more...)
		t.events = t.events[max(0, len(t.events)-mostEvents):]
	}
	return nil
}

// question returns the question that a run waits for, or nil.
func (p *Pages) question(ctx context.Context, runID string) (*api.Question, error) {
	q, err := p.owner.Question(ctx, runID)
	var known *api.Error
	if errors.As(err, &known) && (known.Code == api.CodeNoQuestion || known.Code == api.CodeNoActiveRun) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &q, nil
}

func (p *Pages) oneRun(ctx context.Context, id string, t *timeline) (*oneRun, error) {
	run, err := p.owner.RunByID(ctx, id)
	if err != nil {
		return nil, err
	}
	s := &oneRun{Run: run}
	if s.Connection, err = p.owner.Connection(ctx, run.ConnectionID); err != nil {
		return nil, err
	}
	s.Connection.ObservedAt = p.here(s.Connection.ObservedAt)
	if s.Status == running {
		if s.Question, err = p.question(ctx, id); err != nil {
			return nil, err
		}
	}
	if err = t.read(ctx, p.owner, id); err != nil {
		return nil, err
	}
	s.Events = slices.Clone(t.events)
	slices.Reverse(s.Events)
	return s, nil
}

func (s *oneRun) frame(live string) ui.Frame {
	return ui.Frame{
		Title: runTitle(&s.Run) + ", " + s.DisplayName, Active: "sources", Watched: true,
		Indicator: s.Connection.Indicator, Now: s.Connection.ObservedAt, Live: live,
	}
}

func (s *oneRun) parts(ctx context.Context) (pieces, error) {
	return renderAll(ctx, []component{
		{"runtime-word", ui.Runtime(s.frame(""))},
		{"run-head", runHead(s)},
		{"run-question", runQuestion(s)},
		{"run-progress", runProgress(s)},
		{"run-stderr", runStderr(s)},
		{"run-timeline", runTimeline(s)},
		{"run-about", runAbout(s)},
		{"run-details", runDetails(s)},
	})
}

// lookAtRun returns a look that shows the run until it has ended.
func (p *Pages) lookAtRun(id string) look {
	t := &timeline{}
	return func(ctx context.Context) (pieces, error) {
		s, err := p.oneRun(ctx, id, t)
		if err != nil {
			return nil, err
		}
		parts, err := s.parts(ctx)
		if err == nil && s.Status != running {
			err = errOver
		}
		return parts, err
	}
}

func (p *Pages) getRun(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := bounded(r.Context())
	defer cancel()
	s, err := p.oneRun(ctx, r.PathValue("id"), &timeline{})
	if err != nil {
		p.fail(w, r, err)
		return
	}
	parts, err := s.parts(ctx)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	f := s.frame("")
	if s.Status == running {
		f.Live = runPath(s.ID) + "/events?seen=" + parts.digest()
	}
	f.Flash = ui.TakeFlash(w, r)
	ui.Render(w, r, http.StatusOK, ui.Page(f, runPage(s, parts)))
}

func (p *Pages) getRunEvents(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	p.stream(w, r, "run "+id, p.lookAtRun(id))
}

// listed is how many runs a list shows.
const listed = 100

func (p *Pages) getRuns(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := bounded(r.Context())
	defer cancel()
	connection := r.URL.Query().Get("connection")
	all, err := p.owner.Runs(ctx, api.RunQuery{ConnectionID: connection, Limit: listed})
	if err != nil {
		p.fail(w, r, err)
		return
	}
	f := ui.Frame{Title: "Runs", Active: "sources", Now: p.now(), Flash: ui.TakeFlash(w, r)}
	ui.Render(w, r, http.StatusOK, ui.Page(f, runList(all, connection, r.URL.Query().Get("all") != "", p.now())))
}

func (p *Pages) postCancel(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	err := p.owner.Cancel(r.Context(), id)
	p.done(w, r, err, runPath(id), ui.Good("The run is asked to end. Everything saved so far stays."))
}

func (p *Pages) postAnswer(w http.ResponseWriter, r *http.Request) {
	if !p.form(w, r) {
		return
	}
	id := r.PathValue("id")
	a := api.Answer{RequestID: r.PostForm.Get("interaction_id"), Status: "success", Data: fields(r)}
	message := ui.Good("The answer is on its way to the run.")
	if r.PostForm.Get("status") == "cancelled" {
		a.Status, a.Data = "cancelled", nil
		message = ui.Good("The run continues without an answer. It keeps what it has.")
	}
	err := p.owner.Answer(r.Context(), id, a)
	p.done(w, r, err, runPath(id), message)
}
