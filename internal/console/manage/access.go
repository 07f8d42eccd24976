package manage

import (
	"net/http"
	"strings"

	"pdpp/internal/console/ui"
)

func (p *pages) createToken(w http.ResponseWriter, r *http.Request) {
	if !p.form(w, r, "settings") {
		return
	}
	page := settingsPage{Label: strings.TrimSpace(r.PostForm.Get("label")), Expires: r.PostForm.Get("expires")}
	if page.Label == "" {
		p.refuse(w, r, &page, "tokens", wrong("label", "Give it a name, so that you recognise it later."))
		return
	}
	day, err := parseDate(page.Expires, p.Now().Location())
	if err != nil {
		p.refuse(w, r, &page, "tokens", wrong("expires", "This is not a date."))
		return
	}
	_, token, err := p.Owner.CreateToken(r.Context(), page.Label, endOf(day))
	if err != nil {
		p.refuse(w, r, &page, "tokens", p.problem(w, r, err))
		return
	}
	p.showSettings(w, r, http.StatusOK, &settingsPage{NewToken: token})
}

func (p *pages) revokeToken(w http.ResponseWriter, r *http.Request) {
	if err := p.Owner.RevokeToken(r.Context(), r.PathValue("id")); err != nil {
		p.refuse(w, r, &settingsPage{}, "tokens", p.problem(w, r, err))
		return
	}
	ui.Done(w, r, "/settings#tokens", ui.Good("Revoked. The token opens nothing any more."))
}

func (p *pages) changePassword(w http.ResponseWriter, r *http.Request) {
	if !p.form(w, r, "settings") {
		return
	}
	current, next := r.PostForm.Get("current"), r.PostForm.Get("next")
	if next != r.PostForm.Get("again") {
		p.refuse(w, r, &settingsPage{}, "password", wrong("again", "The two new passwords are not the same. Nothing was changed."))
		return
	}
	if err := p.ChangePassword(r.Context(), current, next); err != nil {
		found := p.problem(w, r, err)
		if found.Param == "password" {
			found.Param = "next" // the one that was refused is the new one
		}
		p.refuse(w, r, &settingsPage{}, "password", found)
		return
	}
	ui.Done(w, r, "/settings#password", ui.Good("The password was changed. All other browsers are signed out."))
}
