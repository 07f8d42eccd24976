package serve

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/web/auth"
)

// No token confirms a foreign connector by connecting it, whatever its scope, also after a restore has dropped
// what was confirmed. A browser does so after a fresh proof; then tokens connect it as any other.
func TestTokensConfirmNoProgram(t *testing.T) {
	var guard *auth.Auth
	var later atomic.Int64
	onBoth(t, func(g *ground) {
		var err error
		g.config.Listener, err = net.Listen("tcp", "127.0.0.1:0")
		g.must(err)
		later.Store(0)
		guard = auth.New(auth.Config{Store: g.st,
			Now:      func() time.Time { return time.Now().Add(time.Duration(later.Load())) },
			HashCost: auth.HashCost{MemoryKiB: 8, Passes: 1}})
		g.config.Auth = guard
		g.install("letters", needing("letters", `{"bindings":{"network":{"required":true}}}`), surveyor)
	}, func(t *testing.T, g *ground) {
		base := "http://" + g.config.Listener.Addr().String()
		password, err := guard.Setup(t.Context(), "")
		g.must(err)
		signed := httptest.NewRecorder()
		g.must(guard.SignIn(signed, httptest.NewRequest(http.MethodPost, base+"/login", nil), password))
		connect := func(token string) (int, string) {
			t.Helper()
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/_ref/connections",
				strings.NewReader(`{"connector_id":"letters"}`))
			g.must(err)
			r.Header.Set("Content-Type", "application/json")
			if token != "" {
				r.Header.Set("Authorization", "Bearer "+token)
			} else {
				r.Header.Set("Origin", base)
				for _, c := range signed.Result().Cookies() {
					r.AddCookie(c)
				}
			}
			resp, err := http.DefaultTransport.RoundTrip(r)
			g.must(err)
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			g.must(err)
			return resp.StatusCode, string(body)
		}
		tokens := map[string]string{}
		for name, scopes := range map[string][]string{"manage": {"manage"}, "everyday": nil, "all": {"all"}} {
			_, tokens[name], err = guard.CreateToken(t.Context(), auth.NewToken{Label: name, Scopes: scopes})
			g.must(err)
		}
		refused := func(when string) {
			t.Helper()
			before, err := g.st.ListConnections(t.Context())
			g.must(err)
			for name, token := range tokens {
				if status, body := connect(token); status != http.StatusForbidden ||
					!strings.Contains(body, `"connector_unconfirmed"`) {
					t.Errorf("%s, a token for %s: %d %s", when, name, status, body)
				}
			}
			later.Add(int64(time.Hour))
			if status, body := connect(""); status != http.StatusForbidden ||
				!strings.Contains(body, `"confirmation_required"`) {
				t.Errorf("%s, a browser without a fresh proof: %d %s", when, status, body)
			}
			later.Add(-int64(time.Hour))
			after, err := g.st.ListConnections(t.Context())
			g.must(err)
			if _, err := g.st.ConfirmedConnector(t.Context(), "letters"); !errors.Is(err, store.ErrNotFound) ||
				len(after) != len(before) {
				t.Errorf("%s: confirmed (%v), or %d connections of %d", when, err, len(after), len(before))
			}
		}
		refused("at first")
		for _, token := range []string{"", tokens["manage"]} {
			if status, body := connect(token); status != http.StatusCreated {
				t.Errorf("with a proof, then by a token: %d %s", status, body)
			}
		}
		g.must(g.st.DropConfirmations(t.Context()))
		refused("after a restore")
	})
}
