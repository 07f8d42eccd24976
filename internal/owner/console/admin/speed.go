package admin

import (
	"context"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// speedRow is one connection with its limits, as they were typed.
type speedRow struct {
	ID, Name                  string
	Ceiling, Minutes, Details string
	Supports                  []string
	Pace                      *float64 // requests a minute now; nil when not measured
	Problem                   ui.FormProblem
}

// These are the names of limits that a connector may declare as supported.
const (
	limitCeiling = "ceiling_per_minute"
	limitSeconds = "max_run_seconds"
	limitWhole   = "max_whole_run_seconds"
	limitDetails = "max_detail_fetches"
)

// speedRow returns a connection's row. After a rejected form, the row holds the typed values.
func (p *adminPages) speedRow(ctx context.Context, d api.Detail, typed []speedRow) (speedRow, error) {
	l, seconds := d.Limits, d.Limits.MaxSeconds
	if slices.Contains(l.Supports, limitWhole) {
		seconds = l.MaxWholeSeconds
	}
	row := speedRow{ID: d.ID, Ceiling: limitText(l.CeilingPerMinute), Minutes: limitText(float64(seconds) / 60),
		Details: limitText(float64(l.MaxDetails))}
	for _, t := range typed {
		if t.ID == d.ID {
			row = t
		}
	}
	row.Name, row.Supports = d.DisplayName, l.Supports
	if !row.can(limitCeiling) {
		return row, nil
	}
	pace, err := p.Owner.Pace(ctx, d.ID, 1)
	row.Pace = pace.CurrentPerMinute
	return row, err
}

func (row speedRow) can(limit string) bool { return slices.Contains(row.Supports, limit) }

// replaceSpeed puts a row in the place of the typed one, or at the end.
func replaceSpeed(rows []speedRow, row speedRow) []speedRow {
	for i := range rows {
		if rows[i].ID == row.ID {
			rows[i] = row
			return rows
		}
	}
	return append(rows, row)
}

// setSpeed keeps the limits of all connections of the page that were changed. When
// one of them cannot be taken nothing of it is kept, and the others are.
func (p *adminPages) setSpeed(w http.ResponseWriter, r *http.Request) {
	if !p.ParseForm(w, r, "settings") {
		return
	}
	page := settingsPage{}
	changed, status := 0, http.StatusOK
	for _, id := range r.PostForm["connection"] {
		row := speedRow{ID: id, Ceiling: r.PostForm.Get("ceiling." + id), Minutes: r.PostForm.Get("minutes." + id),
			Details: r.PostForm.Get("details." + id)}
		d, err := p.Owner.Connection(r.Context(), id)
		if err != nil {
			p.ShowFailure(w, r, "settings", err)
			return
		}
		row.Supports = d.Limits.Supports
		wanted, found := row.limits(d.Limits)
		if found == nil && !sameLimits(wanted, d.Limits) {
			if err := p.Owner.SetLimits(r.Context(), id, wanted); err != nil {
				formProblem := p.ProblemOf(w, r, err)
				found = &formProblem
			} else {
				changed++
			}
		}
		if found != nil {
			row.Problem, status = *found, found.Status
		}
		page.Speeds = append(page.Speeds, row)
	}
	if status != http.StatusOK {
		p.showSettings(w, r, status, &page)
		return
	}
	line := "Nothing was changed."
	if changed > 0 {
		line = "Saved for " + text.Count(int64(changed), "connection", "sources") + ". The next run keeps to it."
	}
	ui.Done(w, r, "/settings?page="+strconv.Itoa(max(1, pageOf(r)))+"#speed", ui.Good(line))
}

func sameLimits(a, b api.Limits) bool {
	return a.CeilingPerMinute == b.CeilingPerMinute && a.MaxSeconds == b.MaxSeconds &&
		a.MaxWholeSeconds == b.MaxWholeSeconds && a.MaxDetails == b.MaxDetails
}

// timeLimit is the limit that the column of minutes sets: of the whole run where the connector
// understands that, else of its details.
func (row speedRow) timeLimit() string {
	if row.can(limitWhole) {
		return limitWhole
	}
	return limitSeconds
}

// limits reads what was typed, over what is in force. An empty field is no limit.
func (row speedRow) limits(now api.Limits) (api.Limits, *ui.FormProblem) {
	for _, l := range []struct {
		name, text string
		set        func(float64)
	}{
		{limitCeiling, row.Ceiling, func(n float64) { now.CeilingPerMinute = n }},
		{row.timeLimit(), row.Minutes, func(n float64) {
			if row.timeLimit() == limitWhole {
				now.MaxWholeSeconds = int64(math.Ceil(n * 60))
			} else {
				now.MaxSeconds = int64(math.Ceil(n * 60))
			}
		}},
		{limitDetails, row.Details, func(n float64) { now.MaxDetails = int64(math.Ceil(n)) }},
	} {
		if !row.can(l.name) {
			continue
		}
		n, ok := readLimit(l.text)
		if !ok {
			found := ui.FieldProblem(l.name, "Give a number above zero, or leave it empty.")
			return now, &found
		}
		l.set(n)
	}
	return now, nil
}

const largestLimit = 1e9

func readLimit(text string) (float64, bool) {
	text = strings.TrimSpace(text)
	if text == "" {
		return 0, true
	}
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil && n > 0 && n <= largestLimit
}

// limitText is a limit in an input; none is empty.
func limitText(n float64) string {
	if n <= 0 {
		return ""
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

// paceWords returns the current request rate of a connection.
func (row speedRow) paceWords() string {
	if row.Pace == nil {
		return "not measured"
	}
	return text.Number(int64(math.Round(*row.Pace))) + " a minute"
}

// wrong returns the text of the problem with a limit.
func (row speedRow) wrong(limit string) string {
	if row.Problem.Param == limit {
		return row.Problem.Text
	}
	return ""
}

// capsWrong reports whether the caps hold a problem, which must not stay folded away.
func (page *settingsPage) capsWrong() bool {
	return slices.ContainsFunc(page.Speeds, func(row speedRow) bool {
		return row.wrong(row.timeLimit()) != "" || row.wrong(limitDetails) != ""
	})
}

func (page *settingsPage) capsWords() string {
	n := 0
	for _, row := range page.Speeds {
		if row.Minutes != "" || row.Details != "" {
			n++
		}
	}
	if n == 0 {
		return "off"
	}
	return "on for " + text.Count(int64(n), "connection", "sources")
}
