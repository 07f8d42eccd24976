package status

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// allowShown is the content of the page on which the owner signs in at a provider.
type allowShown struct {
	api.Detail
	Return string           // where the provider sends the owner back to
	Begun  *api.SignInBegun // a code that waits to be entered
	NoApp  bool             // the provider does not know this server yet
}

func (s *allowShown) source() string { return s.Connector.DisplayName }

// again reports whether the owner has signed in before.
func (s *allowShown) again() bool { return s.Credential != nil }

// waitPath is where the page asks whether the code was entered.
func (s *allowShown) waitPath() string {
	return api.AllowPage(s.ID) + "/wait?" + url.Values{"state": {s.Begun.State}}.Encode()
}

// choice reports whether something may be left out.
func (s *allowShown) choice() bool {
	return slices.ContainsFunc(s.Connector.Consent.Scopes, func(c api.ConsentScope) bool { return c.Optional })
}

// allowing reads the connection named in the address. On failure it writes the response and
// returns nil.
func (p *Pages) allowing(w http.ResponseWriter, r *http.Request) *allowShown {
	ctx, cancel := bounded(r.Context())
	defer cancel()
	d, err := p.owner.Connection(ctx, r.PathValue("id"))
	if err == nil && (d.Connector == nil || d.Connector.Consent == nil) {
		err = api.NotFound("This source is not signed in to at its provider.", "Look at the connection.")
	}
	if err != nil {
		p.fail(w, r, err)
		return nil
	}
	d.ObservedAt = p.here(d.ObservedAt)
	return &allowShown{Detail: d, Return: p.base + api.CallbackPath}
}

func (p *Pages) showAllow(w http.ResponseWriter, r *http.Request, s *allowShown, status int, message *ui.Message) {
	f := ui.Frame{Title: "Connect " + s.source(), Active: "sources", Watched: true, Indicator: s.Indicator,
		Now: s.ObservedAt, Flash: message}
	ui.Render(w, r, status, ui.Page(f, allowPage(s)))
}

func (p *Pages) getAllow(w http.ResponseWriter, r *http.Request) {
	if s := p.allowing(w, r); s != nil {
		p.showAllow(w, r, s, http.StatusOK, ui.TakeFlash(w, r))
	}
}

// postAllow sends the owner to the provider, or shows a code.
func (p *Pages) postAllow(w http.ResponseWriter, r *http.Request) {
	s := p.allowing(w, r)
	if s == nil {
		return
	}
	if err := r.ParseForm(); err != nil {
		p.fail(w, r, api.Invalid("", "The form cannot be read.", "Send it again."))
		return
	}
	wish := api.SignInWish{Scopes: append([]string{}, r.PostForm["scope"]...)}
	if r.PostForm.Get("way") != "code" {
		if p.elsewhere(r) {
			p.fail(w, r, api.Invalid("",
				s.source()+" sends you back to "+p.base+", and you are signed in under another address of this server.",
				"Open "+p.base+api.AllowPage(s.ID)+" and sign in there."))
			return
		}
		wish.Redirect = s.Return
	}
	begun, err := p.owner.BeginSignIn(r.Context(), s.ID, wish)
	var known *api.Error
	if errors.As(err, &known) && known.Code == api.CodeNoProviderApp {
		s.NoApp = true
		m, status := ui.MessageFor(w, err)
		p.showAllow(w, r, s, status, &m)
		return
	}
	if err != nil {
		p.fail(w, r, err)
		return
	}
	if begun.UserCode != "" {
		s.Begun = &begun
		p.showAllow(w, r, s, http.StatusOK, nil)
		return
	}
	http.Redirect(w, r, begun.URL, http.StatusSeeOther)
}

// elsewhere reports whether the browser's Origin differs from the address that providers redirect
// to, such as localhost instead of 127.0.0.1. After the redirect, such a browser would not be
// signed in. A request without an Origin is accepted.
func (p *Pages) elsewhere(r *http.Request) bool {
	ours, err := url.Parse(p.base)
	origin := r.Header.Get("Origin")
	return err == nil && strings.HasPrefix(origin, "http") && !strings.EqualFold(origin, ours.Scheme+"://"+ours.Host)
}

// postAllowApp keeps how this server is registered at the provider.
func (p *Pages) postAllowApp(w http.ResponseWriter, r *http.Request) {
	s := p.allowing(w, r)
	if s == nil {
		return
	}
	if err := r.ParseForm(); err != nil {
		p.fail(w, r, api.Invalid("", "The form cannot be read.", "Send it again."))
		return
	}
	err := p.owner.SetProviderApp(r.Context(), s.Connector.ID,
		api.ProviderApp{ClientID: r.PostForm.Get("client_id"), ClientSecret: r.PostForm.Get("client_secret")})
	if err != nil {
		p.fail(w, r, err)
		return
	}
	ui.Done(w, r, api.AllowPage(s.ID), ui.Good("Kept. Now allow it at "+s.source()+"."))
}

// getAllowWait asks whether the code was entered, and leads on when it was.
func (p *Pages) getAllowWait(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	done, err := p.owner.FinishSignIn(r.Context(), api.SignInAnswer{State: r.URL.Query().Get("state")})
	if err == nil && !done.Connected {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if err != nil {
		m, _ := ui.MessageFor(w, err)
		ui.Render(w, r, stopPolling, ui.Notice(m))
		return
	}
	p.hub.nudge()
	w.Header().Set("HX-Redirect", connectionPath(id))
	w.WriteHeader(http.StatusNoContent)
}

// stopPolling is htmx's own status: what comes with it is shown, and nothing is asked again.
const stopPolling = 286

// getCallback is where providers send the owner back to.
func (p *Pages) getCallback(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	w.Header().Set("Referrer-Policy", "no-referrer") // the address holds a code
	answer := api.SignInAnswer{State: q.Get("state"), Code: q.Get("code"), Error: q.Get("error"), Scope: q.Get("scope")}
	if answer.Code == "" && answer.Error == "" {
		answer.Error = "invalid_request"
	}
	done, err := p.owner.FinishSignIn(r.Context(), answer)
	switch {
	case err == nil:
		p.hub.nudge()
		ui.Done(w, r, connectionPath(done.ConnectionID), ui.Good(connectedWords(done)))
	case done.ConnectionID != "":
		m, _ := ui.MessageFor(w, err)
		ui.Done(w, r, api.AllowPage(done.ConnectionID), m)
	default:
		p.fail(w, r, err)
	}
}

func connectedWords(done api.SignInDone) string {
	if len(done.Missing) == 0 {
		return "Connected. The first run starts now."
	}
	return "Connected without: " + strings.Join(done.Missing, ", ") +
		". That was not allowed there; the rest is being collected."
}
