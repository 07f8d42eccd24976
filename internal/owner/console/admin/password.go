package admin

import (
	"net/http"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

func (p *adminPages) password(w http.ResponseWriter, r *http.Request) {
	p.showPassword(w, r, http.StatusOK, ui.FormProblem{})
}

func (p *adminPages) showPassword(w http.ResponseWriter, r *http.Request, status int, found ui.FormProblem) {
	p.ShowPage(w, r, status, p.PageFrame(w, r, "New password", "settings"), passwordBody(found))
}

func (p *adminPages) changePassword(w http.ResponseWriter, r *http.Request) {
	if !p.ParseForm(w, r, "settings") {
		return
	}
	next, keep := r.PostForm.Get("next"), r.PostForm.Get("keep_tokens") != ""
	if next != r.PostForm.Get("again") {
		p.showPassword(w, r, http.StatusBadRequest,
			ui.FieldProblem("again", "The two passwords are not the same. Nothing was changed."))
		return
	}
	if err := p.Owner.SetPassword(r.Context(), api.NewPassword{Password: next, KeepTokens: keep}); err != nil {
		found := p.ProblemOf(w, r, err)
		p.showPassword(w, r, found.Status, found)
		return
	}
	text := "The password was changed. All other browsers are signed out, and all tokens have ended."
	if keep {
		text = "The password was changed. All other browsers are signed out."
	}
	ui.Done(w, r, signInAddress+"#password", ui.Good(text))
}
