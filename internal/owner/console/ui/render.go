package ui

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/a-h/templ"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// Fragment reports whether the request wants a part of a page and not a page.
func Fragment(r *http.Request) bool { return r.Header.Get("HX-Request") == "true" }

// Render answers with a component, as a whole or not at all.
func Render(w http.ResponseWriter, r *http.Request, status int, c templ.Component) {
	var page bytes.Buffer
	if err := c.Render(r.Context(), &page); err != nil {
		if r.Context().Err() != nil {
			return // nobody waits for it any more
		}
		panic(err) // a mistake in this program; the server answers for it
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(page.Bytes())
}

// Problem gives the words and the status of an error. What is not an
// *api.Error is told without its text, which is for the log alone.
func Problem(w http.ResponseWriter, err error) (Message, int) {
	var known *api.Error
	if errors.As(err, &known) {
		m := Message{Kind: "bad", Text: known.Message, Next: known.Next}
		if known.RunID != "" {
			m.Link, m.LinkText = "/runs/"+known.RunID, "Open the run"
		}
		if known.Code == api.CodeProviderWait && known.ConnectionID != "" {
			m.Kind, m.Anyway = "warn", "/connections/"+url.PathEscape(known.ConnectionID)+"/run"
		}
		status := known.Status
		if status < 400 || status > 599 {
			status = http.StatusInternalServerError
		}
		return m, status
	}
	next := "Try again in a moment."
	if id := w.Header().Get("Request-Id"); id != "" {
		next += " The log has more under " + id + "."
	}
	return Message{Kind: "bad", Text: "Something went wrong here.", Next: next}, http.StatusInternalServerError
}

// Fail answers with what went wrong and what to do next: a message where the
// action was, or a page of its own. The caller logs what is not the owner's matter.
func Fail(w http.ResponseWriter, r *http.Request, f Frame, err error) {
	m, status := Problem(w, err)
	var known *api.Error
	if errors.As(err, &known) && known.Until != nil {
		m.Text = strings.Replace(m.Text, api.Moment(*known.Until), Moment(*known.Until, f.Now), 1)
	}
	if Fragment(r) {
		Render(w, r, status, Notice(m))
		return
	}
	f.Title, f.Live = m.Text, ""
	Render(w, r, status, Page(f, failure(m)))
}

// flashCookie carries one message to the next page. It holds no secret, and what it
// says is escaped like any other text. It comes along when a provider sends the owner back, as
// the session does.
const flashCookie = "pdpp_said"

// Done answers a form whose action was taken: with the message where htmx asked for
// it, and otherwise by sending the browser to the page, which shows it.
func Done(w http.ResponseWriter, r *http.Request, to string, m Message) {
	if Fragment(r) {
		Render(w, r, http.StatusOK, Notice(m))
		return
	}
	Leave(w, m)
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// Leave keeps a message for the page that the browser opens next.
func Leave(w http.ResponseWriter, m Message) {
	if text, err := json.Marshal(m); err == nil {
		http.SetCookie(w, &http.Cookie{
			Name: flashCookie, Value: base64.RawURLEncoding.EncodeToString(text), Path: "/", MaxAge: 30,
			HttpOnly: true, SameSite: http.SameSiteLaxMode,
		})
	}
}

// longestFlash bounds what is read of a message that a browser sends back.
const longestFlash = 2000

// TakeFlash gives the message that Done left for this page, once.
func TakeFlash(w http.ResponseWriter, r *http.Request) *Message {
	c, err := r.Cookie(flashCookie)
	if err != nil || len(c.Value) > longestFlash {
		return nil
	}
	http.SetCookie(w, &http.Cookie{Name: flashCookie, Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteLaxMode})
	text, err := base64.RawURLEncoding.DecodeString(c.Value)
	if err != nil {
		return nil
	}
	var m Message
	if json.Unmarshal(text, &m) != nil || m.Text == "" || !localPath(m.Link) {
		return nil
	}
	return &m
}

// localPath reports whether an address stays in this console.
func localPath(address string) bool {
	return address == "" || address[0] == '/' && (len(address) == 1 || address[1] != '/' && address[1] != '\\')
}
