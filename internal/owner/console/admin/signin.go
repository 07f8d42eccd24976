package admin

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

const signInAddress = "/settings/sign-in"

// signInPage is who may act as the owner. A form on it that was refused is shown with
// what was typed.
type signInPage struct {
	Sessions []api.Session
	Passkeys []api.Passkey
	Codes    api.RecoveryCodes
	Tokens   []api.Token
	Token    typedToken
	NewToken string   // shown once
	NewCodes []string // shown once
	// Fresh reports whether the owner has recently confirmed their identity. If not, actions that
	// create ways to sign in ask for confirmation first.
	Fresh bool
	// Passkey reports whether a passkey can be used at this address.
	Passkey bool
	Problem *ui.FormProblem
	Section string // that the problem is in
}

// typedToken is a token to be made, as typed.
type typedToken struct {
	Label, Ends, Date string
	Scopes            map[string]bool
}

func (p *adminPages) signIn(w http.ResponseWriter, r *http.Request) {
	p.showSignIn(w, r, http.StatusOK, &signInPage{})
}

func (p *adminPages) showSignIn(w http.ResponseWriter, r *http.Request, status int, page *signInPage) {
	if err := p.fillSignIn(r, page); err != nil {
		if page.NewToken == "" && page.NewCodes == nil {
			p.ShowFailure(w, r, "settings", err)
			return
		}
		p.LogFailure(r, err) // what was made exists, and is shown only once
	}
	p.ShowPage(w, r, status, p.PageFrame(w, r, "Sign-in", "settings"), signInBody(page, p.Now()))
}

func (p *adminPages) fillSignIn(r *http.Request, page *signInPage) (err error) {
	ctx := r.Context()
	page.Fresh, page.Passkey = p.Fresh(ctx), p.PasskeysAt(r)
	if page.Sessions, err = p.Owner.Sessions(ctx); err != nil {
		return err
	}
	if page.Passkeys, err = p.Owner.Passkeys(ctx); err != nil {
		return err
	}
	if page.Codes, err = p.Owner.RecoveryCodes(ctx); err != nil {
		return err
	}
	if page.Token.Scopes == nil {
		page.Token.Scopes = map[string]bool{"read": true}
	}
	page.Tokens, err = p.Owner.Tokens(ctx)
	return err
}

// refuseSignIn shows the page with a problem in one section.
func (p *adminPages) refuseSignIn(w http.ResponseWriter, r *http.Request, page *signInPage, section string,
	found ui.FormProblem) {
	page.Section, page.Problem = section, &found
	p.showSignIn(w, r, found.Status, page)
}

// done finishes an action of one section.
func (p *adminPages) signInDone(w http.ResponseWriter, r *http.Request, section, text string, err error) {
	if err != nil {
		p.refuseSignIn(w, r, &signInPage{}, section, p.ProblemOf(w, r, err))
		return
	}
	ui.Done(w, r, signInAddress+"#"+section, ui.Good(text))
}

func (p *adminPages) endSession(w http.ResponseWriter, r *http.Request) {
	p.signInDone(w, r, "sessions", "Signed out there.", p.Owner.EndSession(r.Context(), r.PathValue("id")))
}

func (p *adminPages) endSessions(w http.ResponseWriter, r *http.Request) {
	p.signInDone(w, r, "sessions", "All other browsers are signed out.", p.Owner.EndSessions(r.Context()))
}

func (p *adminPages) removePasskey(w http.ResponseWriter, r *http.Request) {
	p.signInDone(w, r, "passkeys", "Removed. It signs in no more.", p.Owner.RemovePasskey(r.Context(), r.PathValue("id")))
}

func (p *adminPages) revokeToken(w http.ResponseWriter, r *http.Request) {
	p.signInDone(w, r, "tokens", "Revoked. The token opens nothing any more.",
		p.Owner.RevokeToken(r.Context(), r.PathValue("id")))
}

func (p *adminPages) makeCodes(w http.ResponseWriter, r *http.Request) {
	codes, err := p.Owner.MakeRecoveryCodes(r.Context())
	if err != nil {
		p.refuseSignIn(w, r, &signInPage{}, "password", p.ProblemOf(w, r, err))
		return
	}
	p.showSignIn(w, r, http.StatusOK, &signInPage{NewCodes: codes})
}

func (p *adminPages) createToken(w http.ResponseWriter, r *http.Request) {
	if !p.ParseForm(w, r, "settings") {
		return
	}
	f := r.PostForm
	typed := typedToken{Label: strings.TrimSpace(f.Get("label")), Ends: f.Get("ends"), Date: f.Get("date"),
		Scopes: map[string]bool{}}
	for _, scope := range f["scope"] {
		typed.Scopes[scope] = true
	}
	page := &signInPage{Token: typed}
	n := api.NewToken{Label: typed.Label, Scopes: f["scope"]}
	switch {
	case n.Label == "":
		p.refuseSignIn(w, r, page, "tokens", ui.FieldProblem("label", "Give it a name, so that you recognise it later."))
		return
	case len(n.Scopes) == 0:
		p.refuseSignIn(w, r, page, "tokens", ui.FieldProblem("scopes", "Choose what it may do."))
		return
	}
	if found := typed.ends(&n, p.Now()); found != nil {
		p.refuseSignIn(w, r, page, "tokens", *found)
		return
	}
	_, token, err := p.Owner.CreateToken(r.Context(), n)
	if err != nil {
		p.refuseSignIn(w, r, page, "tokens", p.ProblemOf(w, r, err))
		return
	}
	p.showSignIn(w, r, http.StatusOK, &signInPage{NewToken: token})
}

// ends reads when the token ends: after so many days, on a date, or never.
func (t typedToken) ends(n *api.NewToken, now time.Time) *ui.FormProblem {
	switch t.Ends {
	case "never":
		n.NeverExpires = true
		return nil
	case "date":
		day, err := parseDate(t.Date, now.Location())
		if err != nil || day == nil {
			found := ui.FieldProblem("expires_at", "This is not a date.")
			return &found
		}
		n.ExpiresAt = endOf(day)
		return nil
	}
	if days, err := strconv.Atoi(t.Ends); err == nil && days > 0 && days < 10_000 {
		at := now.AddDate(0, 0, days)
		n.ExpiresAt = &at
	}
	return nil
}

// about returns the text of the problem with a field of a section.
func (page *signInPage) about(section, param string) string {
	if page.Problem != nil && page.Section == section && page.Problem.Param == param {
		return page.Problem.Text
	}
	return ""
}

// general returns the text of a section's problem that belongs to none of the fields.
func (page *signInPage) general(section string, fields ...string) string {
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

// usable are the tokens that have not been revoked and are not over.
func (page *signInPage) usable(now time.Time) []api.Token {
	var out []api.Token
	for _, t := range page.Tokens {
		if t.RevokedAt == nil && (t.ExpiresAt == nil || t.ExpiresAt.After(now)) {
			out = append(out, t)
		}
	}
	return out
}

// lede returns one sentence on which browsers and tokens can sign in.
func (page *signInPage) lede(now time.Time) string {
	parts := []string{count(len(page.Sessions), "browser", "browsers")}
	if n := len(page.usable(now)); n > 0 {
		parts = append(parts, count(n, "token", "tokens"))
	}
	line := text.List(parts) + " can open this server."
	if len(page.Passkeys) == 0 && !page.Passkey {
		line += " Only the password protects it."
	}
	return strings.ToUpper(line[:1]) + line[1:]
}

func count(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + more
}

// mayWords returns what a token may do.
func mayWords(scopes []string) string {
	var may []string
	for _, s := range scopes {
		switch s {
		case "read":
			may = append(may, "read everything")
		case "run":
			may = append(may, "start and stop runs")
		case "manage":
			may = append(may, "manage")
		case "all":
			return "May do everything."
		}
	}
	return "May " + text.List(may) + "."
}

// spotOf is the sign of a browser.
func spotOf(browser string) string {
	for _, small := range []string{"iPhone", "iPad", "Android"} {
		if strings.Contains(browser, small) {
			return "phone"
		}
	}
	return "computer"
}
