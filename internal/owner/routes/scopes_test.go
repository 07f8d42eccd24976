package routes_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/owner/routes"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
	"github.com/pdpp-go/pdpp/internal/web/auth"
	"github.com/pdpp-go/pdpp/internal/web/reply"
)

var inBraces = regexp.MustCompile(`\{\w+(\.\.\.)?\}`)

// Every address of the owner's names a scope, reading never needs more than to manage,
// and a token gets as far as its scopes: none opens an address that needs another.
func TestEveryRouteHasAScope(t *testing.T) {
	st, err := sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, filepath.Join(t.TempDir(), "pdpp.db")), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	guard := auth.New(auth.Config{Store: st})
	tokens := map[reply.Scope]string{}
	for _, scope := range reply.Scopes {
		if _, tokens[scope], err = guard.CreateToken(t.Context(),
			auth.NewToken{Label: "A script", Scopes: []string{string(scope)}}); err != nil {
			t.Fatal(err)
		}
	}
	needs := map[string]reply.Scope{}
	for _, route := range routes.Routes(newFake(fake{}), nil) {
		needs[route.Pattern] = route.Scope
		if !slices.Contains(reply.Scopes, route.Scope) {
			t.Errorf("%s names no scope", route.Pattern)
			continue
		}
		method, path, _ := strings.Cut(route.Pattern, " ")
		if method != "GET" && route.Scope == reply.ScopeRead {
			t.Errorf("%s changes something, and a token that reads may do it", route.Pattern)
		}
		if method == "GET" && route.Scope == reply.ScopeAll {
			t.Errorf("%s changes nothing, and needs everything", route.Pattern)
		}
		for scope, token := range tokens {
			reached := false
			guarded := guard.Owner(route.Scope, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
			r := httptest.NewRequest(method, inBraces.ReplaceAllString(path, "x"), nil)
			r.Header.Set("Authorization", "Bearer "+token)
			w := httptest.NewRecorder()
			guarded.ServeHTTP(w, r)
			if want := scope == reply.ScopeAll || scope == route.Scope; reached != want || !want &&
				w.Code != http.StatusForbidden {
				t.Errorf("%s with a token for %s: reached %v, %d", route.Pattern, scope, reached, w.Code)
			}
		}
	}
	for _, pattern := range []string{"POST /_ref/tokens", "PUT /_ref/password", "POST /_ref/recovery-codes"} {
		if needs[pattern] != reply.ScopeAll {
			t.Errorf("%s gives a way in, and needs only %q", pattern, needs[pattern])
		}
	}
}
