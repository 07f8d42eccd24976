package admin

import (
	"net/http"
	"net/url"
	"slices"
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

func (p *adminPages) consent(w http.ResponseWriter, r *http.Request) {
	asked, err := p.Owner.GrantRequest(r.Context(), r.PathValue("id"))
	if err != nil {
		p.ShowFailure(w, r, "sharing", err)
		return
	}
	names, err := p.names(r)
	if err != nil {
		p.ShowFailure(w, r, "sharing", err)
		return
	}
	ui.Render(w, r, http.StatusOK, ui.Bare("A request to read", consentBody(&consentPage{asked, names}, p.Now())))
}

// decide answers an app and sends the browser back to it. It answers with a page that navigates
// automatically, not with a redirect. The pages' content security policy restricts form targets,
// including redirects of their answers.
func (p *adminPages) decide(w http.ResponseWriter, r *http.Request) {
	if !p.ParseForm(w, r, "sharing") {
		return
	}
	decision := r.PostForm.Get("decision")
	if decision != "approve" && decision != "deny" {
		p.ShowFailure(w, r, "sharing",
			api.Invalid("decision", "Nothing was decided.", "Go back and choose one of the two buttons."))
		return
	}
	answer := api.Decision{Approve: decision == "approve"}
	if ticked := r.PostForm["stream"]; answer.Approve && len(ticked) > 0 {
		asked, err := p.Owner.GrantRequest(r.Context(), r.PathValue("id"))
		if err != nil {
			p.ShowFailure(w, r, "sharing", err)
			return
		}
		for _, s := range asked.Streams {
			if asked.OwnerChooses && slices.Contains(ticked, streamValue(s)) {
				answer.Streams = append(answer.Streams, s)
			}
		}
	}
	if answer.Approve && r.PostForm.Has("end") {
		end, err := parseDate(r.PostForm.Get("end"), p.Now().Location())
		if err != nil {
			p.ShowFailure(w, r, "sharing",
				api.Invalid("end", "The end is not a date.", "Go back and choose a date, or leave it empty."))
			return
		}
		answer.GrantEnd = grantEnd(end)
	}
	to, err := p.Owner.Decide(r.Context(), r.PathValue("id"), answer)
	if err != nil {
		p.ShowFailure(w, r, "sharing", err)
		return
	}
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		p.ShowFailure(w, r, "sharing", api.Invalid("", "The app gave no address to go back to.",
			"Open the app yourself; your decision is kept."))
		return
	}
	w.Header().Set("Refresh", "0; url="+u.String())
	ui.Render(w, r, http.StatusOK, ui.Bare("Back to the app", decidedBody(decision == "approve", u.Host, u.String())))
}

// streamValue identifies a stream in the form of a request that lets the owner choose.
func streamValue(s api.GrantStream) string { return s.ConnectionID + " " + s.Stream }

// lastDay is the day with which the grant would end, as the form has it.
func (page *consentPage) lastDay(now time.Time) string {
	if page.ExpiresAt == nil {
		return ""
	}
	return page.ExpiresAt.In(now.Location()).Add(-time.Nanosecond).Format(time.DateOnly)
}

// hiddenWords returns, for each requested stream, the fields that stay hidden.
func (page *consentPage) hiddenWords() []string {
	var out []string
	for _, s := range page.Streams {
		if hidden := page.hidden(s); len(hidden) > 0 {
			out = append(out, page.stream(s)+": "+text.List(hidden))
		}
	}
	return out
}
