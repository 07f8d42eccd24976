package admin

import (
	"net/http"
	"net/url"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// deletionsPage is what was deleted, and the connections that ended.
type deletionsPage struct {
	Deletions []api.Deletion
	Ended     []api.EndedConnection
}

func (p *adminPages) deletions(w http.ResponseWriter, r *http.Request) {
	var page deletionsPage
	var err error
	if page.Deletions, err = p.Owner.Deletions(r.Context()); err == nil {
		page.Ended, err = p.Owner.EndedConnections(r.Context())
	}
	if err != nil {
		p.ShowFailure(w, r, "settings", err)
		return
	}
	p.ShowPage(w, r, http.StatusOK, p.PageFrame(w, r, "Deleted data", "settings"), deletionsBody(&page, p.Now()))
}

// deletionForm asks before something is deleted.
type deletionForm struct {
	api.DeletionRequest
	Preview api.Deletion
	ui.FormProblem
}

// members are what the form repeats of what is to be deleted.
func (f *deletionForm) members() (all [][2]string) {
	for _, m := range [][2]string{{"scope", f.Scope}, {"connection", f.ConnectionID}, {"stream", f.Stream},
		{"since", f.Since}, {"until", f.Until}, {"key", f.Key}} {
		if m[1] != "" {
			all = append(all, m)
		}
	}
	return all
}

// deletionWish reads what is to be deleted.
func deletionWish(v url.Values) api.DeletionRequest {
	return api.DeletionRequest{Scope: v.Get("scope"), ConnectionID: v.Get("connection"), Stream: v.Get("stream"),
		Since: v.Get("since"), Until: v.Get("until"), Key: v.Get("key"),
		Now: v.Get("when") == "now"}
}

// newDeletion shows what a deletion would remove, and asks.
func (p *adminPages) newDeletion(w http.ResponseWriter, r *http.Request) {
	form := deletionForm{DeletionRequest: deletionWish(r.URL.Query()), FormProblem: ui.FormProblem{Status: http.StatusOK}}
	p.showDeletionForm(w, r, &form)
}

func (p *adminPages) showDeletionForm(w http.ResponseWriter, r *http.Request, form *deletionForm) {
	ranged := form.Scope == "range" // with bounds that an owner types
	if !ranged || form.Since != "" || form.Until != "" {
		preview, err := p.Owner.PreviewDeletion(r.Context(), form.DeletionRequest)
		switch {
		case err == nil:
			form.Preview = preview
		case ranged:
			form.FormProblem = p.ProblemOf(w, r, err)
		default:
			p.ShowFailure(w, r, "settings", err)
			return
		}
	}
	p.ShowPage(w, r, form.Status, p.PageFrame(w, r, "Delete", "settings"), deletionFormBody(form))
}

// delete needs fresh proof for what cannot be undone, and for everything.
func (p *adminPages) delete(w http.ResponseWriter, r *http.Request) {
	if !p.ParseForm(w, r, "settings") {
		return
	}
	wanted := deletionWish(r.PostForm)
	var act http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d, err := p.Owner.Delete(r.Context(), wanted)
		p.deletionChanged(w, r, d, err)
	})
	if wanted.Now || wanted.Scope == "everything" {
		act = p.Confirmed(act)
	}
	act.ServeHTTP(w, r)
}

// deletion shows one receipt.
func (p *adminPages) deletion(w http.ResponseWriter, r *http.Request) {
	id, ok := p.PathSegment(w, r, "id", "settings")
	if !ok {
		return
	}
	d, err := p.Owner.DeletionByID(r.Context(), id)
	if err != nil {
		p.ShowFailure(w, r, "settings", err)
		return
	}
	p.ShowPage(w, r, http.StatusOK, p.PageFrame(w, r, "Deleted: "+d.What, "settings"), deletionBody(&d, p.Now()))
}

func (p *adminPages) undoDeletion(w http.ResponseWriter, r *http.Request) {
	id, ok := p.PathSegment(w, r, "id", "settings")
	if !ok {
		return
	}
	d, err := p.Owner.UndoDeletion(r.Context(), id)
	p.deletionChanged(w, r, d, err)
}

func (p *adminPages) purgeDeletion(w http.ResponseWriter, r *http.Request) {
	id, ok := p.PathSegment(w, r, "id", "settings")
	if !ok {
		return
	}
	d, err := p.Owner.PurgeDeletion(r.Context(), id)
	p.deletionChanged(w, r, d, err)
}

func (p *adminPages) collectDeleted(w http.ResponseWriter, r *http.Request) {
	id, ok := p.PathSegment(w, r, "id", "settings")
	if !ok {
		return
	}
	d, err := p.Owner.CollectDeleted(r.Context(), id)
	if err != nil {
		p.ShowFailure(w, r, "settings", err)
		return
	}
	ui.Done(w, r, ui.DeletionAddress(d.ID), ui.Good("The next run collects it again."))
}

// deletionChanged opens the receipt, which itself names what happened.
func (p *adminPages) deletionChanged(w http.ResponseWriter, r *http.Request, d api.Deletion, err error) {
	if err != nil {
		p.ShowFailure(w, r, "settings", err)
		return
	}
	http.Redirect(w, r, ui.DeletionAddress(d.ID), http.StatusSeeOther)
}

// offersCollecting reports whether runs are kept from collecting what was removed for good, and could.
func offersCollecting(d *api.Deletion) bool {
	return d.KeepsOut && d.State == "purged" && (d.Scope == "stream" || d.Scope == "range" || d.Scope == "record")
}
