package auth

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/web/reply"
)

const (
	loginPath    = "/login"
	logoutPath   = "/logout"
	recoverPath  = "/login/recovery"
	confirmPath  = "/confirm"
	passkeyPath  = "/passkey/"
	passwordPath = "/settings/password"
)

// Form is a page that asks who is there. It posts a field "password" or "code" to
// Action, and a hidden field "next" with Next, which is a path of this server.
type Form struct {
	Action  string // /login, /login/recovery or /confirm
	Next    string
	Message string // what is wrong; empty at first
	// Passkey means that a passkey can be used at this address.
	Passkey bool
}

// FormPage shows a form.
type FormPage = func(w http.ResponseWriter, r *http.Request, status int, f Form)

// Routes are the ways in and out for a browser.
func (d *Auth) Routes(page FormPage) []reply.Route {
	show := func(w http.ResponseWriter, r *http.Request, action string, status int, message string) {
		page(w, r, status, Form{Action: action, Next: returnPath(r), Message: message, Passkey: d.PasskeysAt(r)})
	}
	signedIn := func(h http.HandlerFunc) http.HandlerFunc { return d.Pages(h).ServeHTTP }
	return []reply.Route{
		{Pattern: "GET " + loginPath,
			Handle: func(w http.ResponseWriter, r *http.Request) { d.showForm(w, r, loginPath, show) }},
		{Pattern: "POST " + loginPath, Handle: func(w http.ResponseWriter, r *http.Request) {
			d.answerForm(w, r, loginPath, show, returnPath(r), d.SignIn(w, r, r.PostFormValue("password")))
		}},
		{Pattern: "GET " + recoverPath,
			Handle: func(w http.ResponseWriter, r *http.Request) { d.showForm(w, r, recoverPath, show) }},
		{Pattern: "POST " + recoverPath, Handle: func(w http.ResponseWriter, r *http.Request) {
			d.answerForm(w, r, recoverPath, show, passwordPath, d.Recover(w, r, r.PostFormValue("code")))
		}},
		{Pattern: "GET " + confirmPath, Handle: signedIn(func(w http.ResponseWriter, r *http.Request) {
			show(w, r, confirmPath, http.StatusOK, "")
		})},
		{Pattern: "POST " + confirmPath, Handle: signedIn(func(w http.ResponseWriter, r *http.Request) {
			d.answerForm(w, r, confirmPath, show, returnPath(r), d.Confirm(r.Context(), r.PostFormValue("password")))
		})},
		{Pattern: "POST " + logoutPath, Handle: d.logout},
		{Pattern: "POST " + passkeyPath + "{for}/begin", Handle: d.passkey(false)},
		{Pattern: "POST " + passkeyPath + "{for}/finish", Handle: d.passkey(true)},
	}
}

type show = func(w http.ResponseWriter, r *http.Request, action string, status int, message string)

// showForm shows a form to callers that are not signed in.
func (d *Auth) showForm(w http.ResponseWriter, r *http.Request, action string, page show) {
	back := returnPath(r)
	_, ok, err := d.authenticate(w, r)
	switch {
	case err != nil:
		d.failStore(w, r, err)
	case ok:
		http.Redirect(w, r, back, http.StatusSeeOther)
	default:
		page(w, r, action, http.StatusOK, "")
	}
}

// answerForm sends the browser on, or shows the form again with what is wrong.
func (d *Auth) answerForm(w http.ResponseWriter, r *http.Request, action string, page show, to string, err error) {
	var refusal *usererr.Error
	switch {
	case err == nil:
		http.Redirect(w, r, to, http.StatusSeeOther)
	case errors.As(err, &refusal):
		if refusal.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(refusal.RetryAfter/time.Second)))
		}
		page(w, r, action, refusal.Status, refusal.Message)
	default:
		d.failStore(w, r, err)
	}
}

func (d *Auth) logout(w http.ResponseWriter, r *http.Request) {
	if err := d.SignOut(w, r); err != nil {
		d.failStore(w, r, err)
		return
	}
	http.Redirect(w, r, loginPath, http.StatusSeeOther)
}

// returnPath reads where to go after signing in, and leaves only what is safe for the
// page to read.
func returnPath(r *http.Request) string {
	back := localPath(r.FormValue("next"))
	if r.Form == nil {
		r.Form = url.Values{}
	}
	r.Form.Set("next", back)
	return back
}

// localPath returns a path of this server for any text in a link: browsers treat two slashes, a backslash or a hidden
// tab as another host.
func localPath(s string) string {
	const home = "/"
	if !strings.HasPrefix(s, "/") || strings.HasPrefix(s, "//") || strings.Contains(s, `\`) || len(s) > 2048 ||
		strings.ContainsFunc(s, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
		return home
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || u.Path == loginPath || u.Path == logoutPath ||
		u.Path == confirmPath || u.Path == recoverPath {
		return home
	}
	return s
}
