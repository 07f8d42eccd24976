package records

import (
	"net/http"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// searchesPage lists the saved searches, with the form for a new one.
type searchesPage struct {
	Searches []api.SavedSearch
	Typed    api.NewSearch // what could not be saved
	ui.FormProblem
}

func (p *pages) searches(w http.ResponseWriter, r *http.Request) {
	p.showSearches(w, r, searchesPage{FormProblem: ui.FormProblem{Status: http.StatusOK}})
}

func (p *pages) showSearches(w http.ResponseWriter, r *http.Request, page searchesPage) {
	var err error
	if page.Searches, err = p.Owner.SavedSearches(r.Context()); err != nil {
		p.ShowFailure(w, r, ui.Section(r), err)
		return
	}
	p.ShowPage(w, r, page.Status, p.PageFrame(w, r, "Saved searches", ui.Section(r)), searchesBody(&page))
}

func (p *pages) saveSearch(w http.ResponseWriter, r *http.Request) {
	if !p.ParseForm(w, r, ui.Section(r)) {
		return
	}
	page := searchesPage{Typed: api.NewSearch{Name: strings.TrimSpace(r.PostForm.Get("name")),
		Address: r.PostForm.Get("address")}}
	saved, err := p.Owner.SaveSearch(r.Context(), page.Typed)
	if err != nil {
		page.FormProblem = p.ProblemOf(w, r, err)
		p.showSearches(w, r, page)
		return
	}
	ui.Done(w, r, saved.Address, ui.Good("Saved as “"+saved.Name+"”. It is on the search page."))
}

// openSearch redirects to the address of a saved search.
func (p *pages) openSearch(w http.ResponseWriter, r *http.Request) {
	id, ok := p.PathSegment(w, r, "id", ui.Section(r))
	if !ok {
		return
	}
	all, err := p.Owner.SavedSearches(r.Context())
	if err != nil {
		p.ShowFailure(w, r, ui.Section(r), err)
		return
	}
	i := slices.IndexFunc(all, func(s api.SavedSearch) bool { return s.ID == id })
	if i < 0 {
		p.ShowFailure(w, r, ui.Section(r), api.NotFound("There is no such saved search.",
			"Choose one of your saved searches."))
		return
	}
	http.Redirect(w, r, all[i].Address, http.StatusSeeOther)
}

func (p *pages) renameSearch(w http.ResponseWriter, r *http.Request) {
	id, ok := p.PathSegment(w, r, "id", ui.Section(r))
	if !ok || !p.ParseForm(w, r, ui.Section(r)) {
		return
	}
	if err := p.Owner.RenameSearch(r.Context(), id, r.PostForm.Get("name")); err != nil {
		p.ShowFailure(w, r, ui.Section(r), err)
		return
	}
	ui.Done(w, r, ui.SearchesAddress, ui.Good("Renamed."))
}

func (p *pages) deleteSearch(w http.ResponseWriter, r *http.Request) {
	id, ok := p.PathSegment(w, r, "id", ui.Section(r))
	if !ok {
		return
	}
	if err := p.Owner.DeleteSearch(r.Context(), id); err != nil {
		p.ShowFailure(w, r, ui.Section(r), err)
		return
	}
	ui.Done(w, r, ui.SearchesAddress, ui.Good("Deleted. What it found is still here."))
}
