package cli

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/owner/routes"
	"github.com/pdpp-go/pdpp/internal/web/auth"
)

// serveShop serves the shop behind the owner's routes, and returns the address and a token.
func serveShop(t *testing.T, s *statusShop) (address, token string) {
	t.Helper()
	env, _, _ := testEnvironment(t, nil)
	inv := &command.Invocation{Env: env, HomeFlag: s.home}
	o, err := inv.LocalOwner(s.Store)
	s.must(err)
	guard := auth.New(auth.Config{Store: s.Store, Now: env.Now})
	_, token, err = guard.CreateToken(t.Context(), auth.NewToken{Label: "test", Scopes: []string{"all"}})
	s.must(err)
	mux := http.NewServeMux()
	for _, route := range routes.Routes(o, nil) {
		mux.Handle(route.Pattern, guard.Owner(route.Scope, route.Handle))
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL, token
}
