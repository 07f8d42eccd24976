package admin

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// missingPage is what a connection lacks.
type missingPage struct {
	connectionPart
	Gaps    []api.Gap
	Status  string // empty means everything that is not here
	Shown   int    // at most this many
	More    bool   // there are others behind them
	LeftOut []api.LeftOut
	Further string // address of a longer list; empty when this is the longest
}

// missingOne is one item that could not be fetched.
type missingOne struct {
	connectionPart
	api.Gap
	Problem *ui.FormProblem
	Typed   string // why it may stay missing, as typed
}

const (
	usualMissing = 20
	mostMissing  = 2500
)

var missingKinds = []auditChoice{{"", "Everything missing"}, {"pending", "Waiting for a run"},
	{"terminal", "Not tried again"}, {"recovered", "Fetched meanwhile"}}

func (p *adminPages) missing(w http.ResponseWriter, r *http.Request) {
	c, ok := p.part(w, r)
	if !ok {
		return
	}
	page := &missingPage{connectionPart: c, Status: r.URL.Query().Get("status"), Shown: usualMissing}
	if n, err := strconv.Atoi(r.URL.Query().Get("show")); err == nil && n > 0 {
		page.Shown = min(n, mostMissing)
	}
	found, err := p.Owner.Gaps(r.Context(), api.GapQuery{ConnectionID: c.ID, Status: page.Status, Limit: page.Shown})
	if err != nil {
		p.ShowFailure(w, r, "sources", err)
		return
	}
	page.Gaps, page.More, page.LeftOut = found.Gaps, found.More, found.LeftOut
	if page.More && page.Shown < mostMissing {
		page.Further = c.at("/missing",
			url.Values{"status": {page.Status}, "show": {strconv.Itoa(min(5*page.Shown, mostMissing))}})
	}
	p.ShowPage(w, r, http.StatusOK, p.PageFrame(w, r, "What is missing, "+c.Name, "sources"),
		missingBody(page, p.Now()))
}

// gapOf reads the gap named in the address. If the connection has no such gap, it writes the
// response and returns false.
func (p *adminPages) gapOf(w http.ResponseWriter, r *http.Request) (*missingOne, bool) {
	c, ok := p.part(w, r)
	if !ok {
		return nil, false
	}
	id, ok := p.PathSegment(w, r, "gap", "sources")
	if !ok {
		return nil, false
	}
	g, err := p.Owner.Gap(r.Context(), id)
	if err == nil && g.ConnectionID != c.ID {
		err = api.NotFound("This connection lacks no such item.", "Choose one of the list of what is missing.")
	}
	if err != nil {
		p.ShowFailure(w, r, "sources", err)
		return nil, false
	}
	return &missingOne{connectionPart: c, Gap: g, Typed: g.IgnoredWhy}, true
}

func (p *adminPages) missingItem(w http.ResponseWriter, r *http.Request) {
	if one, ok := p.gapOf(w, r); ok {
		p.showMissing(w, r, http.StatusOK, one)
	}
}

func (p *adminPages) showMissing(w http.ResponseWriter, r *http.Request, status int, one *missingOne) {
	p.ShowPage(w, r, status, p.PageFrame(w, r, one.title(), "sources"), missingItemBody(one, p.Now()))
}

func (p *adminPages) retryMissing(w http.ResponseWriter, r *http.Request) {
	one, ok := p.gapOf(w, r)
	if !ok {
		return
	}
	if _, err := p.Owner.RetryGap(r.Context(), one.Gap.ID); err != nil {
		p.ShowFailure(w, r, "sources", err)
		return
	}
	ui.Done(w, r, one.at("/missing", nil), ui.Good(one.title()+": the next run tries it again."))
}

func (p *adminPages) ignoreMissing(w http.ResponseWriter, r *http.Request) {
	one, ok := p.gapOf(w, r)
	if !ok || !p.ParseForm(w, r, "sources") {
		return
	}
	one.Typed = strings.TrimSpace(r.PostForm.Get("reason"))
	if _, err := p.Owner.IgnoreGap(r.Context(), one.Gap.ID, one.Typed); err != nil {
		found := p.ProblemOf(w, r, err)
		one.Problem = &found
		p.showMissing(w, r, found.Status, one)
		return
	}
	ui.Done(w, r, one.at("/missing", nil), ui.Good(one.title()+" is left out, and not tried again until you say so."))
}

func (o *missingOne) title() string { return o.item(&o.Gap) }

// place is the address of an item's page.
func (c *connectionPart) place(g *api.Gap) string { return c.at("/missing/"+ui.Segment(g.ID), nil) }

// again is what happens next to an item, with the moment if one is known.
type again struct {
	Before string
	At     *time.Time
	After  string
}

func againOf(g *api.Gap, now time.Time) again {
	switch {
	case g.Status == "in_progress":
		return again{Before: "A run tries it now"}
	case g.Status == "recovered":
		return again{Before: "Fetched ", At: &g.UpdatedAt}
	case g.Status == "terminal" && g.IgnoredWhy != "":
		return again{Before: "Left out by you: " + g.IgnoredWhy}
	case g.Status == "terminal":
		return again{Before: "Not tried again"}
	case g.NotBefore != nil && g.NotBefore.After(now):
		return again{Before: "Tried again from ", At: g.NotBefore, After: " on"}
	default:
		return again{Before: "Tried again by the next run"}
	}
}

// canRetry reports whether there is anything to try: it is not here, and no run is at it.
func canRetry(g *api.Gap) bool { return g.Status != "in_progress" && g.Status != "recovered" }
