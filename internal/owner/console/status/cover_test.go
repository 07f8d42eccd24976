package status

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/judge/health"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/view"
)

func bars(c *cover) string {
	var out []string
	for _, b := range c.Bars {
		out = append(out, fmt.Sprintf("%s %s+%s/%s", b.Class, b.X, b.Width, b.Height))
	}
	return strings.Join(out, ", ")
}

// The picture separates what is here, what can be fetched, what is not offered, and time in which nothing happened.
func TestCoverDrawsFourStates(t *testing.T) {
	at := noon
	of := &view.Connection{SourceKind: "network", Verdict: verdict.Verdict{Streams: []verdict.StreamRow{
		{StreamID: "messages", Disposition: health.DispositionComplete}}}}
	k := &api.KeptSource{Name: "Ferry chat", Status: "active", Records: 9, FirstDay: "2025-04-01", LastDay: "2026-03-10",
		AsOf: &at, Say: "Complete", Covered: []api.Covered{{From: "2025-04-01", To: "2026-03-10", Whole: true}},
		Months:  []api.KeptMonth{{Month: "2025-04"}, {Month: "2025-05"}, {Month: "2026-03"}},
		Streams: []api.KeptStream{{Name: "messages"}}}
	draw := func() *cover { return drawCover(k, of, "2026-03-10") }
	c := draw()
	if got := bars(c); got != "cv-yes 82.7+162.7/20, cv-yes 973.3+26.7/20" {
		t.Errorf("two whole spans are drawn as %s", got)
	}
	if c.Label != "Ferry chat, March 2025 to today: complete" || c.NotOffered != "" || len(c.Years) != 1 {
		t.Errorf("drawn %+v", c)
	}

	// A part that a later run can fetch is hatched over what is here of that time.
	of.Verdict.Streams[0].Disposition = health.DispositionResumable
	k.Streams[0].Covered = []api.Covered{{From: "2025-05-01", To: "2025-05-31"}}
	if got := bars(draw()); got !=
		"cv-miss 162.7+82.7/20, cv-yes 82.7+80/20, cv-yes 162.7+82.7/10, cv-yes 973.3+26.7/20" {
		t.Errorf("a partial month is drawn as %s", got)
	}

	// What a source was not asked for since its newest answer is missing; files that the owner brings are not.
	k.Covered[0].To, k.LastDay, k.Months = "2025-12-31", "2025-12-31", k.Months[:2]
	of.Verdict.Streams[0].Disposition = health.DispositionComplete
	if got := bars(draw()); !strings.HasPrefix(got, "cv-miss ") || !strings.Contains(got, "/20, cv-yes") {
		t.Errorf("a source that fell behind is drawn as %s", got)
	}
	of.SourceKind = manualSource
	if got := bars(draw()); strings.Contains(got, "cv-miss") {
		t.Errorf("an import is drawn as missing: %s", got)
	}

	// What no run can fetch is a line and never hatched.
	of.Verdict.Streams[0].Disposition = health.DispositionTerminal
	if c = draw(); c.NotOffered == "" || strings.Contains(bars(c), "cv-miss") {
		t.Errorf("a refused part is drawn as %s, line %q", bars(c), c.NotOffered)
	}
	if k.FirstDay = ""; draw() != nil || drawCover(nil, of, "2026-03-10") != nil {
		t.Error("a source without days has a picture")
	}
}

// The table has the numbers of the picture, by month or, for a long time, by year.
func TestCoverNumbers(t *testing.T) {
	k := &api.KeptSource{Months: []api.KeptMonth{{Month: "2025-12", Records: 2}, {Month: "2026-01", Records: 1200}}}
	if got := fmt.Sprint(coverRows(k)); got != "[{January 2026 1,200} {December 2025 2}]" {
		t.Error(got)
	}
	for year := 2010; year < 2014; year++ {
		for month := 1; month <= 12; month++ {
			k.Months = append(k.Months, api.KeptMonth{Month: fmt.Sprintf("%d-%02d", year, month), Records: 1})
		}
	}
	years := fmt.Sprint(coverRows(&api.KeptSource{Months: k.Months[2:]}))
	if years != "[{2013 12} {2012 12} {2011 12} {2010 12}]" {
		t.Error(years)
	}
}

// A source that the owner ended stays in a list while things of it are here.
func TestEndedSourcesAreListed(t *testing.T) {
	k := newKeeper(plant(t, "scheduled-healthy", `{"connection": {"connection_id": "con_a"}}`))
	k.kept = api.Kept{Today: "2026-03-10", Sources: []api.KeptSource{
		{ConnectionID: "con_a", Name: "Photobox", Status: "active", Records: 2},
		{ConnectionID: "con_gone", Name: "Old forum", Status: revoked, Records: 41}}}
	board := page(t, serve(k), "/sources")
	if got := one(t, board, "id", "ended"); !strings.HasPrefix(got, "1 source you ended") ||
		!strings.Contains(got, "Old forum 41 things") {
		t.Errorf("listed %q", got)
	}
	if len(find(board, "data-ended", "con_a")) > 0 {
		t.Error("a source that collects is listed as ended")
	}
}
