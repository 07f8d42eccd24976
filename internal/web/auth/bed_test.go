package auth_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/audit"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
	"github.com/pdpp-go/pdpp/internal/web/auth"
	"github.com/pdpp-go/pdpp/internal/web/reply"
	"github.com/pdpp-go/pdpp/internal/web/server"
)

const password = "correct horse battery"

// cheap is what passwords cost where their strength is not what is tested.
var cheap = auth.HashCost{MemoryKiB: 8, Passes: 1}

// bed is sign-in in a real server over a real database, with a clock that the test
// turns.
type bed struct {
	*testing.T
	auth *auth.Auth
	st   store.Store
	file string
	url  string
	// cookie is what call sends; empty for none.
	cookie string
	at     atomic.Int64 // nanoseconds since the clock's beginning
}

var beginning = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

func (b *bed) now() time.Time         { return beginning.Add(time.Duration(b.at.Load())) }
func (b *bed) later(by time.Duration) { b.at.Add(int64(by)) }
func (b *bed) request(m, p string) *req {
	return &req{bed: b, method: m, path: p, header: http.Header{}}
}

func newBed(t *testing.T) *bed {
	t.Helper()
	return newBedOver(t, func(kept store.Store) store.Store { return kept })
}

// newBedOver puts something between sign-in and its database.
func newBedOver(t *testing.T, between func(store.Store) store.Store) *bed {
	t.Helper()
	b := &bed{T: t, file: filepath.Join(t.TempDir(), "pdpp.db")}
	st, err := sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, b.file), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	b.st = between(st)
	b.auth = auth.New(auth.Config{Store: b.st, Now: b.now, HashCost: cheap,
		Audit: audit.New(audit.Config{Store: b.st, Now: b.now, By: audit.Actor{Kind: audit.Server}})})
	if shown, err := b.auth.Setup(t.Context(), password); err != nil || shown != "" {
		t.Fatalf("set up: %q, %v", shown, err)
	}
	s := httptest.NewServer(b.handler())
	t.Cleanup(s.Close)
	b.url = s.URL
	return b
}

// handler is a page, an answer for programs, and the ways in and out.
func (b *bed) handler() http.Handler {
	who := func(w http.ResponseWriter, r *http.Request) {
		i, _ := auth.From(r.Context())
		io.WriteString(w, string(i.Kind)+i.TokenID)
	}
	return server.New(server.Config{Loopback: true, Mount: func(mux *http.ServeMux) {
		for _, route := range b.auth.Routes(func(w http.ResponseWriter, r *http.Request, status int, f auth.Form) {
			w.WriteHeader(status)
			io.WriteString(w, "[form "+f.Next+"] "+f.Message)
		}) {
			mux.Handle(route.Pattern, server.PageHeaders(route.Handle))
		}
		mux.Handle("/", b.auth.Pages(http.HandlerFunc(who)))
		mux.Handle("/_ref/", b.auth.Owner(reply.ScopeRead, http.HandlerFunc(who)))
		mux.HandleFunc("GET /v1/streams", func(w http.ResponseWriter, r *http.Request) {
			if owner, err := b.auth.IsOwner(r); err == nil && owner {
				io.WriteString(w, "all")
			}
		})
		mux.Handle("POST /_ref/password",
			b.auth.Owner(reply.ScopeAll, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if err := b.auth.SetPassword(r.Context(), r.PostFormValue("next"), false); err != nil {
					w.WriteHeader(http.StatusForbidden)
					io.WriteString(w, err.Error())
				}
			})))
	}})
}

// req is a request that is being put together.
type req struct {
	*bed
	method, path string
	header       http.Header
	form         url.Values
}

func (r *req) with(name, value string) *req { r.header.Set(name, value); return r }

func (r *req) sending(pairs ...string) *req {
	r.form = url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		r.form.Set(pairs[i], pairs[i+1])
	}
	return r.with("Content-Type", "application/x-www-form-urlencoded")
}

type answer struct {
	*http.Response
	body string
}

func (r *req) by(browser *http.Client) answer {
	r.Helper()
	q, err := http.NewRequestWithContext(r.Context(), r.method, r.url+r.path, strings.NewReader(r.form.Encode()))
	if err != nil {
		r.Fatal(err)
	}
	q.Header = r.header
	res, err := browser.Do(q)
	if err != nil {
		r.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		r.Fatal(err)
	}
	return answer{res, string(body)}
}

// browser keeps cookies and follows no redirects. Its cookies do not age: only the server uses the test's clock.
func browser() *http.Client {
	jar, _ := cookiejar.New(nil)
	return &http.Client{Jar: jar,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func (b *bed) signIn(c *http.Client, word string) answer {
	b.Helper()
	return b.request("POST", "/login").sending("password", word).by(c)
}

func (b *bed) signedIn() *http.Client {
	b.Helper()
	c := browser()
	if a := b.signIn(c, password); a.StatusCode != http.StatusSeeOther {
		b.Fatalf("sign in: %d %s", a.StatusCode, a.body)
	}
	return c
}

// inside reports whether the browser may see a page.
func (b *bed) inside(c *http.Client) bool {
	b.Helper()
	return b.request("GET", "/page").by(c).StatusCode == http.StatusOK
}

func cookie(a answer) *http.Cookie {
	for _, c := range a.Cookies() {
		if strings.TrimPrefix(c.Name, "__Host-") == "pdpp_session" {
			return c
		}
	}
	return nil
}
