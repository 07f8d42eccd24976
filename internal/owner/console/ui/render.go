package ui

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"

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
			return // the client has disconnected
		}
		panic(err) // a mistake in this program; the server answers for it
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	body := page.Bytes()
	// The answer to a form may show a secret beside what was typed: its length must not depend on both.
	if r.Method == http.MethodGet && len(body) >= worthPacking {
		w.Header().Add("Vary", "Accept-Encoding")
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			w.Header().Set("Content-Encoding", "gzip")
			w.WriteHeader(status)
			z := packers.Get().(*gzip.Writer)
			z.Reset(w)
			_, _ = z.Write(body)
			_ = z.Close()
			packers.Put(z)
			return
		}
	}
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// worthPacking is the length of a page, in bytes, from which it is sent compressed.
const worthPacking = 1400

// packers are reused, because each holds much memory.
var packers = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

// MessageFor returns the message and the status for an error. The text of an error that is not an
// *api.Error goes only to the log.
func MessageFor(w http.ResponseWriter, err error) (Message, int) {
	var known *api.Error
	if errors.As(err, &known) {
		m := Message{Kind: "bad", Text: known.Message, Next: known.Next}
		if known.RunID != "" {
			m.Link, m.LinkText = "/runs/"+known.RunID, "Open the run"
		}
		if known.Code == api.CodeProviderWait && known.ConnectionID != "" {
			m.Kind, m.Anyway = "warn", "/sources/"+url.PathEscape(known.ConnectionID)+"/run"
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

// ShowFailure answers with what went wrong and what to do next: a message where the
// action was, or a page of its own. The caller logs what is not the owner's matter.
func ShowFailure(w http.ResponseWriter, r *http.Request, f Frame, err error) {
	m, status := MessageFor(w, err)
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

// ShowNoPage shows that an address has no page, to anyone who asks.
func ShowNoPage(w http.ResponseWriter, r *http.Request) {
	m := Message{Text: "There is no such page.", Next: "The address may be mistyped, or the page has moved."}
	Render(w, r, http.StatusNotFound, Bare(m.Text, failure(m)))
}

// flashCookie carries one message to the next page. It holds no secret, and its text is escaped
// like any other. Like the session cookie, it is sent when a provider redirects the owner back.
const flashCookie = "pdpp_said"

// Done answers a form after its action succeeded. It returns the message to htmx, and otherwise
// redirects the browser to the page, which shows the message.
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

// TakeFlash returns the message that Done left for this page, and clears it.
func TakeFlash(w http.ResponseWriter, r *http.Request) *Message {
	c, err := r.Cookie(flashCookie)
	if err != nil || len(c.Value) > longestFlash {
		return nil
	}
	http.SetCookie(w, &http.Cookie{Name: flashCookie, Path: "/", MaxAge: -1, HttpOnly: true,
		SameSite: http.SameSiteLaxMode})
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
