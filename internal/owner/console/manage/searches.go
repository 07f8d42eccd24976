package manage

import (
	"net/http"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// searchesPage is the searches that have a name, and one that is to have one.
type searchesPage struct {
	Searches []api.SavedSearch
	Typed    api.NewSearch // what could not be saved
	problem
}

func (p *pages) searches(w http.ResponseWriter, r *http.Request) {
	p.showSearches(w, r, searchesPage{problem: problem{status: http.StatusOK}})
}

func (p *pages) showSearches(w http.ResponseWriter, r *http.Request, page searchesPage) {
	var err error
	if page.Searches, err = p.Owner.SavedSearches(r.Context()); err != nil {
		p.fail(w, r, "records", err)
		return
	}
	p.show(w, r, page.status, p.frame(w, r, "Saved searches", "records"), searchesBody(&page))
}

func (p *pages) saveSearch(w http.ResponseWriter, r *http.Request) {
	if !p.form(w, r, "records") {
		return
	}
	page := searchesPage{Typed: api.NewSearch{Name: strings.TrimSpace(r.PostForm.Get("name")), Address: r.PostForm.Get("address")}}
	saved, err := p.Owner.SaveSearch(r.Context(), page.Typed)
	if err != nil {
		page.problem = p.problem(w, r, err)
		p.showSearches(w, r, page)
		return
	}
	ui.Done(w, r, saved.Address, ui.Good("Saved as “"+saved.Name+"”. It is under Records."))
}

// openSearch leads from the name of a search, which may change, to what it asks for.
func (p *pages) openSearch(w http.ResponseWriter, r *http.Request) {
	id, ok := p.segmentOf(w, r, "id", "records")
	if !ok {
		return
	}
	all, err := p.Owner.SavedSearches(r.Context())
	if err != nil {
		p.fail(w, r, "records", err)
		return
	}
	i := slices.IndexFunc(all, func(s api.SavedSearch) bool { return s.ID == id })
	if i < 0 {
		p.fail(w, r, "records", api.NotFound("There is no such saved search.", "Choose one of your saved searches."))
		return
	}
	http.Redirect(w, r, all[i].Address, http.StatusSeeOther)
}

func (p *pages) renameSearch(w http.ResponseWriter, r *http.Request) {
	id, ok := p.segmentOf(w, r, "id", "records")
	if !ok || !p.form(w, r, "records") {
		return
	}
	if err := p.Owner.RenameSearch(r.Context(), id, r.PostForm.Get("name")); err != nil {
		p.fail(w, r, "records", err)
		return
	}
	ui.Done(w, r, ui.SearchesAddress, ui.Good("Renamed."))
}

func (p *pages) deleteSearch(w http.ResponseWriter, r *http.Request) {
	id, ok := p.segmentOf(w, r, "id", "records")
	if !ok {
		return
	}
	if err := p.Owner.DeleteSearch(r.Context(), id); err != nil {
		p.fail(w, r, "records", err)
		return
	}
	ui.Done(w, r, ui.SearchesAddress, ui.Good("Deleted. What it found is still here."))
}
