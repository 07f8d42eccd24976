package auth

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"pdpp/internal/reply"
)

const (
	loginPath  = "/login"
	logoutPath = "/logout"
)

// LoginPage shows the form for signing in: a field "password", and a hidden field
// "next" with r.FormValue("next"), which is a path of this server by then. The
// message is empty at first.
type LoginPage = func(w http.ResponseWriter, r *http.Request, status int, message string)

// Routes are the ways in and out for a browser.
func (d *Door) Routes(page LoginPage) []reply.Route {
	return []reply.Route{
		{Pattern: "GET " + loginPath, Handle: func(w http.ResponseWriter, r *http.Request) { d.showLogin(w, r, page) }},
		{Pattern: "POST " + loginPath, Handle: func(w http.ResponseWriter, r *http.Request) { d.login(w, r, page) }},
		{Pattern: "POST " + logoutPath, Handle: d.logout},
	}
}

func (d *Door) showLogin(w http.ResponseWriter, r *http.Request, page LoginPage) {
	back := backTo(r)
	_, ok, err := d.enter(w, r)
	switch {
	case err != nil:
		d.trouble(w, r, err)
	case ok:
		http.Redirect(w, r, back, http.StatusSeeOther)
	default:
		page(w, r, http.StatusOK, "")
	}
}

func (d *Door) login(w http.ResponseWriter, r *http.Request, page LoginPage) {
	back := backTo(r)
	err := d.SignIn(w, r, r.PostFormValue("password"))
	var refusal *Refusal
	switch {
	case err == nil:
		http.Redirect(w, r, back, http.StatusSeeOther)
	case errors.As(err, &refusal):
		if refusal.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(refusal.RetryAfter/time.Second)))
		}
		page(w, r, refusal.Status, refusal.Message)
	default:
		d.trouble(w, r, err)
	}
}

func (d *Door) logout(w http.ResponseWriter, r *http.Request) {
	if err := d.SignOut(w, r); err != nil {
		d.trouble(w, r, err)
		return
	}
	http.Redirect(w, r, loginPath, http.StatusSeeOther)
}

// backTo reads where to go after signing in, and leaves only what is safe for the
// page to read.
func backTo(r *http.Request) string {
	back := localPath(r.FormValue("next"))
	if r.Form == nil {
		r.Form = url.Values{}
	}
	r.Form.Set("next", back)
	return back
}

// localPath gives a path of this server, whatever somebody wrote into a link: a
// browser reads two slashes, a backslash or a hidden tab as another host.
func localPath(s string) string {
	const home = "/"
	if !strings.HasPrefix(s, "/") || strings.HasPrefix(s, "//") || strings.Contains(s, `\`) || len(s) > 2048 ||
		strings.ContainsFunc(s, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
		return home
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || u.Path == loginPath || u.Path == logoutPath {
		return home
	}
	return s
}
