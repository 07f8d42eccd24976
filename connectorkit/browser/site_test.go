package browser

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// site is a small provider: a sign-in, an API behind it, and pages that misbehave.
type site struct {
	*httptest.Server
	mux *http.ServeMux

	mu       sync.Mutex
	sessions map[string]string // cookie, account
	persists bool              // sign-ins last beyond the browser
	items    int
	log      []string // requests, as "METHOD path"
	wall     bool
}

func newSite(t testing.TB) *site {
	t.Helper()
	s := &site{sessions: map[string]string{}, mux: http.NewServeMux(), items: 3, persists: true}
	s.mux.HandleFunc("GET /robots.txt", text("User-agent: *"))
	s.mux.HandleFunc("GET /login",
		document(`Sign in`, `<form method=post><label>Name <input name=account id=account></label><label>Password <input `+
			`name=password type=password value="planted"></label><label>Note <input value="planted"></label><button id=go>`+
			`Go on</button></form>`))
	s.mux.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, s.signIn(r.FormValue("account")))
		http.Redirect(w, r, "/home", http.StatusSeeOther)
	})
	s.mux.HandleFunc("GET /home", document("Home", "welcome"))
	s.mux.HandleFunc("GET /loop", document("Looping", `<script>setTimeout(() => { for (;;) {} }, 100)</script>`))
	s.mux.HandleFunc("GET /api/session", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.wall {
			w.Header().Set("X-Wall", "1")
			w.WriteHeader(http.StatusForbidden)
			return
		}
		fmt.Fprintf(w, `{"account":%q}`, s.sessions[cookieOf(r)])
	})
	s.mux.HandleFunc("GET /api/items", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.sessions[cookieOf(r)] == "" {
			http.Redirect(w, r, "/login", http.StatusFound)
			return
		}
		list := []map[string]any{}
		for i := range s.items {
			list = append(list, map[string]any{"id": fmt.Sprint(i)})
		}
		must(t, json.MarshalWrite(w, list))
	})
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.log = append(s.log, r.Method+" "+r.URL.Path)
		s.mu.Unlock()
		s.mux.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// signIn makes a session for the account.
func (s *site) signIn(account string) *http.Cookie {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := rand.Text()
	s.sessions[id] = account
	c := &http.Cookie{Name: "__Host-session", Value: id, Path: "/", Secure: true, HttpOnly: true,
		SameSite: http.SameSiteLaxMode}
	if s.persists {
		c.MaxAge = 3600
	}
	return c
}

// signOut ends every session at the provider.
func (s *site) signOut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.sessions)
}

func (s *site) requests(path string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.log {
		if strings.HasSuffix(r, " "+path) {
			n++
		}
	}
	return n
}

func cookieOf(r *http.Request) string {
	c, err := r.Cookie("__Host-session")
	if err != nil {
		return ""
	}
	return c.Value
}

func text(s string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = w.Write([]byte(s))
	}
}

func document(title, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, "<!doctype html><meta name=viewport content=width=device-width><title>%s</title><body>%s</body>",
			title, body)
	}
}

// host is the place of the site as a binding names it.
func (s *site) host() (hosts, local []string) {
	u, _ := url.Parse(s.URL)
	return []string{u.Hostname()}, []string{u.Host}
}

// known is the site as a connector knows it.
func (s *site) known() Site {
	return Site{Home: s.URL, SignIn: s.URL + "/login", Cookie: "__Host-session", Probe: probe}
}

func probe(ctx context.Context, p *Page) (SessionState, error) {
	got, err := p.Fetch(ctx, governhttp.Request{Path: "/api/session"})
	if err != nil {
		return nil, err
	}
	if got.Header.Get("X-Wall") != "" {
		return Walled{}, nil
	}
	var body struct {
		Account string `json:"account"`
	}
	if err := json.Unmarshal(got.Body, &body); err != nil {
		return Unknown{}, nil
	}
	if body.Account == "" {
		return SignedOut{}, nil
	}
	return Live{Account: body.Account}, nil
}

const manifestOf = `{
	"protocol_version": "0.1.0", "connector_id": "shelf", "version": "1.0.0", "display_name": "Shelf",
	"runtime_requirements": {"bindings": {"browser": {"required": true}, "network": {"required": true},` +
	` "interactive": {"required": false}}},
	"streams": [{
		"name": "items", "semantics": "append_only", "checkpoint": "slice", "primary_key": "id",
		"schema": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
	}]
}`

// shelf is a connector for the site. Meanwhile is called when the session is proven.
func shelf(of Site, meanwhile func(context.Context, *Browser) error) connectorkit.Connector {
	return connectorkit.MustNew([]byte(manifestOf),
		func(ctx context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
			b, err := Open(ctx, s, of)
			if err != nil {
				return nil, err
			}
			client, err := s.HTTP(governhttp.Options{BaseURL: of.Home, Transport: b.Transport(), Timeout: 20 * time.Second,
				Classify: connectorkit.ByStatus})
			if err != nil {
				return nil, err
			}
			if meanwhile != nil {
				if err := meanwhile(ctx, b); err != nil {
					return nil, err
				}
			}
			return []connectorkit.Collector{connectorkit.PagedStream{Stream: "items",
				Page: func(ctx context.Context, _ connectorkit.Cursor) (connectorkit.Page, error) {
					got, err := client.Get(ctx, "/api/items", nil)
					if err != nil {
						return connectorkit.Page{}, err
					}
					var list []map[string]any
					if err := json.Unmarshal(got.Body, &list); err != nil {
						return connectorkit.Page{}, connectorkit.Fail(connectorkit.Malformed, err)
					}
					var p connectorkit.Page
					for _, item := range list {
						p.Records = append(p.Records, connectorkit.Upsert(item))
					}
					return p, nil
				}}}, nil
		})
}
