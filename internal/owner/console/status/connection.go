package status

import (
	"context"
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// shown is one connection with everything that its page shows.
type shown struct {
	api.Detail
	Pace     api.Pace
	Missing  api.GapPage
	Runs     []api.Run     // the newest first, at most as many as the strip has beats
	Question *api.Question // what the run under way waits for
	Imports  []api.Import  // of a connection that takes files
	Today    string        // the day of Kept
	Kind     string        // the class of the kind that the source holds most of
	Arrived  []arrived
}

func (p *Pages) shown(ctx context.Context, id string) (*shown, error) {
	d, err := p.owner.Connection(ctx, id)
	if err != nil {
		return nil, err
	}
	d.ObservedAt = p.here(d.ObservedAt)
	s := &shown{Detail: d, Kind: p.kindOf(id), Today: d.ObservedAt.UTC().Format(time.DateOnly)}
	if d.Verdict.Progress.FirstRun {
		if s.Arrived, err = p.arrived(ctx, id); err != nil {
			return nil, err
		}
	}
	if s.Pace, err = p.owner.Pace(ctx, id, 0); err != nil {
		return nil, err
	}
	if s.Missing, err = p.owner.Gaps(ctx, api.GapQuery{ConnectionID: id, Limit: mostMissing}); err != nil {
		return nil, err
	}
	if s.Runs, err = p.owner.Runs(ctx, api.RunQuery{ConnectionID: id, Limit: mostBeats}); err != nil {
		return nil, err
	}
	if d.Connector != nil && d.Connector.Files != nil {
		if s.Imports, err = p.owner.Imports(ctx, id); err != nil {
			return nil, err
		}
	}
	if d.ActiveRun != nil {
		if s.Question, err = p.question(ctx, d.ActiveRun.ID); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// parts makes the page in the order of a reader: what it is and what to do, what is
// collected, and last the evidence.
func (s *shown) parts(ctx context.Context) (pieces, error) {
	return renderAll(ctx, []component{
		{"runtime-word", ui.Runtime(s.frame(""))},
		{"verdict", verdictHead(s)},
		{"ask", askCard(s)},
		{"first-run", firstRun(s)},
		{"cues", cues(s)},
		{"cover", coverage(s)},
		{"streams", streams(s)},
		{"about", about(s)},
		{"files", files(s)},
		{"change", changeDoor(s)},
		{"end", endDoor(s)},
		{"rate", rateSection(s.ID, &s.Pace, s.ObservedAt)},
		{"runs", runHistory(s)},
		{"inspect", inspect(s)},
		{"flash", flashUntil(s)},
	})
}

func (s *shown) frame(live string) ui.Frame {
	return ui.Frame{Title: s.DisplayName, Active: "sources", Watched: true, Indicator: s.Indicator, Now: s.ObservedAt,
		Live: live}
}

func (p *Pages) lookAtConnection(id string) look {
	return func(ctx context.Context) (pieces, error) {
		s, err := p.shown(ctx, id)
		if err != nil {
			return nil, err
		}
		return s.parts(ctx)
	}
}

func (p *Pages) getConnection(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := bounded(r.Context())
	defer cancel()
	s, err := p.shown(ctx, r.PathValue("id"))
	if err != nil {
		p.fail(w, r, err)
		return
	}
	if s.Connection.Status == api.StatusDraft {
		http.Redirect(w, r, api.AllowPage(s.ID), http.StatusSeeOther) // there is nothing else to do with it
		return
	}
	parts, err := s.parts(ctx)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	f := s.frame(connectionPath(s.ID) + "/events?seen=" + parts.digest())
	f.Flash = ui.TakeFlash(w, r)
	ui.Render(w, r, http.StatusOK, ui.Page(f, connectionPage(s, parts)))
}

func (p *Pages) getConnectionEvents(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	p.stream(w, r, "connection "+id, p.lookAtConnection(id))
}

// endedRun names the newest run that has ended.
func endedRun(s *shown) string {
	if s.LastRun == nil {
		return ""
	}
	return s.LastRun.ID
}
