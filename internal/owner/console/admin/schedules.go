package admin

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
	"github.com/pdpp-go/pdpp/internal/owner/words"
	"github.com/pdpp-go/pdpp/internal/view"
)

// perPage is how many connections a page shows in full. Each one costs a separate query.
const perPage = 25

// schedulesPage is a part of all connections with their rhythms.
type schedulesPage struct {
	Rows []scheduleRow
	paging
}

// scheduleRow is one connection and its rhythm, as it was filled in.
type scheduleRow struct {
	api.Detail
	rhythm
	Problem string
}

// paging is the number of the current page and the count of pages.
type paging struct{ Page, Pages int }

// slice sorts all by name and returns the page that the request asks for.
func (g *paging) slice(r *http.Request, all []view.Connection) []view.Connection {
	slices.SortStableFunc(all, func(a, b view.Connection) int {
		if by := strings.Compare(strings.ToLower(a.DisplayName), strings.ToLower(b.DisplayName)); by != 0 {
			return by
		}
		return strings.Compare(a.ID, b.ID)
	})
	g.Pages = (len(all) + perPage - 1) / perPage
	asked, _ := strconv.Atoi(r.FormValue("page")) // what is no number is the first
	g.Page = min(max(asked, 1), max(g.Pages, 1))
	from := (g.Page - 1) * perPage
	return all[from:min(from+perPage, len(all))]
}

// details reads all of each connection. One that was revoked meanwhile is left out.
func (p *adminPages) details(ctx context.Context, some []view.Connection) ([]api.Detail, error) {
	var out []api.Detail
	for _, c := range some {
		d, err := p.Owner.Connection(ctx, c.ID)
		var known *api.Error
		if errors.As(err, &known) && known.Code == api.CodeNotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

func (p *adminPages) schedules(w http.ResponseWriter, r *http.Request) {
	p.showSchedules(w, r, http.StatusOK, "", rhythm{}, "")
}

// showSchedules shows the page; of one connection, with what was typed and what was
// wrong with it.
func (p *adminPages) showSchedules(w http.ResponseWriter, r *http.Request, status int, id string, typed rhythm,
	wrong string) {
	all, err := p.Owner.Overview(r.Context())
	if err != nil {
		p.ShowFailure(w, r, "settings", err)
		return
	}
	var page schedulesPage
	found, err := p.details(r.Context(), page.slice(r, all.Connections))
	if err != nil {
		p.ShowFailure(w, r, "settings", err)
		return
	}
	for _, d := range found {
		row := scheduleRow{Detail: d}
		switch {
		case d.ID == id:
			row.rhythm, row.Problem = typed, wrong
		case d.Plan != nil:
			row.rhythm = rhythmOf(d.Plan.IntervalSeconds)
		case d.Connector != nil:
			row.rhythm = rhythmOf(d.Connector.Refresh.RecommendedSeconds)
		}
		page.Rows = append(page.Rows, row)
	}
	f := p.PageFrame(w, r, "Schedules", "settings")
	p.ShowPage(w, r, status, f, schedulesBody(&page, p.Now()))
}

func (p *adminPages) setSchedule(w http.ResponseWriter, r *http.Request) {
	id, ok := p.PathSegment(w, r, "connection", "settings")
	if !ok || !p.ParseForm(w, r, "settings") {
		return
	}
	typed := rhythm{r.PostForm.Get("every"), r.PostForm.Get("unit")}
	d, err := p.Owner.Connection(r.Context(), id)
	if err != nil {
		p.ShowFailure(w, r, "settings", err)
		return
	}
	var wanted api.Schedule
	if d.Plan != nil {
		wanted = d.Plan.Schedule
	}
	message, set := "", func() error { return p.Owner.SetSchedule(r.Context(), id, wanted) }
	switch r.PostForm.Get("do") {
	case "remove":
		message = "Removed. " + d.DisplayName + " collects only when you ask."
		set = func() error { return p.Owner.DeleteSchedule(r.Context(), id) }
	case "pause":
		wanted.Enabled, message = false, "Paused. "+d.DisplayName+" collects only when you ask."
	case "resume":
		wanted.Enabled, message = true, d.DisplayName+" collects automatically again."
	default:
		if wanted.IntervalSeconds, ok = typed.seconds(); !ok {
			p.showSchedules(w, r, http.StatusBadRequest, id, typed, "Give the time between two runs as a number.")
			return
		}
		wanted.Enabled = d.Plan == nil || wanted.Enabled
		message = "Saved. " + d.DisplayName + ": " + strings.ToLower(words.RunInterval(wanted.IntervalSeconds)) + "."
	}
	if err := set(); err != nil {
		found := p.ProblemOf(w, r, err)
		p.showSchedules(w, r, found.Status, id, typed, found.Text)
		return
	}
	ui.Done(w, r, "/settings/pace?page="+strconv.Itoa(max(1, pageOf(r))), ui.Good(message))
}

// pageOf is the page that a form was on.
func pageOf(r *http.Request) int {
	n, _ := strconv.Atoi(r.PostForm.Get("page")) // what is no number is the first
	return n
}
