package manage

import (
	"net/http"
	"net/url"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// consentPage is what an app asks for.
type consentPage struct {
	api.GrantRequest
	names
}

func (p *pages) consent(w http.ResponseWriter, r *http.Request) {
	asked, err := p.Owner.GrantRequest(r.Context(), r.PathValue("id"))
	if err != nil {
		p.fail(w, r, "grants", err)
		return
	}
	names, err := p.names(r)
	if err != nil {
		p.fail(w, r, "grants", err)
		return
	}
	ui.Render(w, r, http.StatusOK, ui.Bare("A request to read", consentBody(&consentPage{asked, names}, p.Now())))
}

// decide answers an app and sends the browser back to it. The answer is a page that
// leads on by itself and no redirect: the pages' policy lets forms go nowhere else,
// redirects of their answers included.
func (p *pages) decide(w http.ResponseWriter, r *http.Request) {
	if !p.form(w, r, "grants") {
		return
	}
	decision := r.PostForm.Get("decision")
	if decision != "approve" && decision != "deny" {
		p.fail(w, r, "grants", api.Invalid("decision", "Nothing was decided.", "Go back and choose one of the two buttons."))
		return
	}
	answer := api.Decision{Approve: decision == "approve"}
	if answer.Approve && r.PostForm.Has("end") {
		end, err := parseDate(r.PostForm.Get("end"), p.Now().Location())
		if err != nil {
			p.fail(w, r, "grants", api.Invalid("end", "The end is not a date.", "Go back and choose a date, or leave it empty."))
			return
		}
		answer.GrantEnd = grantEnd(end)
	}
	to, err := p.Owner.Decide(r.Context(), r.PathValue("id"), answer)
	if err != nil {
		p.fail(w, r, "grants", err)
		return
	}
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		p.fail(w, r, "grants", api.Invalid("", "The app gave no address to go back to.", "Open the app yourself; your decision is kept."))
		return
	}
	w.Header().Set("Refresh", "0; url="+u.String())
	ui.Render(w, r, http.StatusOK, ui.Bare("Back to the app", decidedBody(decision == "approve", u.Host, u.String())))
}

// lastDay is the day with which the grant would end, as the form has it.
func (page *consentPage) lastDay(now time.Time) string {
	if page.ExpiresAt == nil {
		return ""
	}
	return page.ExpiresAt.In(now.Location()).Add(-time.Nanosecond).Format(dateForm)
}

// hiddenWords say what of the asked streams stays out of sight.
func (page *consentPage) hiddenWords() []string {
	var out []string
	for _, s := range page.Streams {
		if hidden := page.hidden(s); len(hidden) > 0 {
			out = append(out, page.stream(s)+": "+text.List(hidden))
		}
	}
	return out
}
