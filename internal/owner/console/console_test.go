package console

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/view"
)

// nobody is an owner without connections.
type nobody struct{ api.Owner }

func (nobody) Overview(context.Context) (view.Overview, error) {
	return view.Overview{Connections: []view.Connection{}}, nil
}
func (nobody) Runtime(context.Context) (api.Runtime, error)          { return api.Runtime{}, nil }
func (nobody) Streams(context.Context, string) ([]api.Stream, error) { return nil, nil }
func (nobody) Connectors(context.Context) ([]api.Connector, error)   { return nil, nil }

// guard answers with its status, or lets through when that is zero.
type guard struct{ status int }

func (d *guard) Pages(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d.status != 0 {
			w.WriteHeader(d.status)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (d *guard) Confirmed(next http.Handler) http.Handler { return next }
func (d *guard) Fresh(context.Context) bool               { return true }
func (d *guard) PasskeysAt(*http.Request) bool            { return true }

func mounted(d Auth) http.Handler {
	mux := http.NewServeMux()
	Mount(mux, Config{
		Owner: nobody{}, Auth: d, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		PageHeaders: func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Security-Policy", "default-src 'self'")
				next.ServeHTTP(w, r)
			})
		},
	})
	return mux
}

func get(h http.Handler, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	return w
}

// Every page is behind the sign-in and has the policy; only files are open to all.
func TestPagesAreBehindTheDoor(t *testing.T) {
	closed, open := mounted(&guard{http.StatusUnauthorized}), mounted(&guard{})
	for _, path := range []string{"/", "/sources/events", "/sources/con_a", "/sources/con_a/events", "/runs",
		"/runs/run_1", "/runs/run_1/events", "/complete", "/sharing", "/settings", "/settings/sign-in", "/settings/password",
		"/settings/devices", "/settings/pace", "/sources/add", "/sources/con_a/missing", "/sources/con_a/missing/gap_1",
		"/changed?source=con_a", "/sources/con_a/bookmarks", "/sources/con_a/bookmarks/rewind"} {
		if w := get(closed, path); w.Code != http.StatusUnauthorized || w.Header().Get("Content-Security-Policy") == "" {
			t.Errorf("%s gives %d to a stranger", path, w.Code)
		}
	}
	for _, path := range []string{"/assets/console.css", "/assets/console.js", "/assets/htmx.js", "/push-worker.js"} {
		if w := get(closed, path); w.Code != http.StatusOK {
			t.Errorf("%s gives %d", path, w.Code)
		}
	}
	w := get(open, "/")
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "Bring the first thing home") ||
		!strings.Contains(w.Body.String(), `href="/sources/add"`) {
		t.Errorf("an empty house gives %d %s", w.Code, w.Body)
	}
}

func TestLoginPage(t *testing.T) {
	w := httptest.NewRecorder()
	FormPage(w, httptest.NewRequest("GET", "/login?next=/sharing", nil), http.StatusUnauthorized,
		Form{Action: "/login", Next: "/sharing", Message: "That password is <not> right."})
	for _, want := range []string{"That password is &lt;not&gt; right.", `value="/sharing"`, `type="password"`,
		`<h1>Sign in</h1>`} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("the page lacks %s:\n%s", want, w.Body)
		}
	}
}

// An ended session ends its events. An Auth that fails does not.
func TestStillSignedIn(t *testing.T) {
	r := httptest.NewRequest("GET", "/sources/events", nil)
	for status, want := range map[int]bool{0: true, http.StatusUnauthorized: false, http.StatusSeeOther: false,
		http.StatusInternalServerError: true} {
		if got := stillSignedIn(&guard{status}, r); got != want {
			t.Errorf("%d means %v", status, got)
		}
	}
}
