package admin

import (
	"net/http"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// settingsPage is everything that is not one connection's. A form on it that was
// refused is shown with what was typed, except secrets.
type settingsPage struct {
	Speeds []speedRow
	paging
	Targets []api.PushTarget
	Push    api.NewPushTarget // as typed; without secrets
	Quiet   quietHours
	Runtime api.Runtime
	Problem *ui.FormProblem
	Section string // that the problem is in
}

func (p *adminPages) settings(w http.ResponseWriter, r *http.Request) {
	p.showSettings(w, r, http.StatusOK, &settingsPage{})
}

// refuse shows the settings with a problem in one section.
func (p *adminPages) refuse(w http.ResponseWriter, r *http.Request, page *settingsPage, section string,
	found ui.FormProblem) {
	page.Section, page.Problem = section, &found
	p.showSettings(w, r, found.Status, page)
}

// showSettings reads what the page shows besides what was typed.
func (p *adminPages) showSettings(w http.ResponseWriter, r *http.Request, status int, page *settingsPage) {
	f := p.PageFrame(w, r, "Settings", "settings")
	if err := p.fillSettings(r, page, &f); err != nil {
		p.ShowFailure(w, r, "settings", err)
		return
	}
	p.ShowPage(w, r, status, f, settingsBody(page, p.Now()))
}

func (p *adminPages) fillSettings(r *http.Request, page *settingsPage, f *ui.Frame) (err error) {
	ctx := r.Context()
	all, err := p.Owner.Overview(ctx)
	if err != nil {
		return err
	}
	some, err := p.details(ctx, page.slice(r, all.Connections))
	if err != nil {
		return err
	}
	for _, d := range some {
		row, err := p.speedRow(ctx, d, page.Speeds)
		if err != nil {
			return err
		}
		page.Speeds = replaceSpeed(page.Speeds, row)
	}
	if page.Targets, err = p.Owner.PushTargets(ctx); err != nil {
		return err
	}
	if page.Section != "quiet" {
		window, err := p.Owner.QuietHours(ctx)
		if err != nil {
			return err
		}
		page.Quiet = readQuiet(window)
	}
	page.Runtime, err = p.Owner.Runtime(ctx)
	return err
}

// general returns the text of a section's problem that belongs to none of the fields.
func (page *settingsPage) general(section string, fields ...string) string {
	if page.Problem == nil || page.Section != section {
		return ""
	}
	for _, f := range fields {
		if page.Problem.Param == f {
			return ""
		}
	}
	return page.Problem.Text
}

func databaseWords(name string) string {
	switch name {
	case "sqlite":
		return "SQLite"
	case "postgres":
		return "PostgreSQL"
	default:
		return name
	}
}
