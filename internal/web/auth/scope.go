package auth

import (
	"net/http"
	"slices"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/web/reply"
)

// defaultScopes is the default scope of a token: everything except creating further ways to sign in.
var defaultScopes = []string{string(reply.ScopeRead), string(reply.ScopeRun), string(reply.ScopeManage)}

// readScopes returns scopes in their order, each once. ScopeAll excludes others, and an empty list means the default.
func readScopes(given []string) ([]string, error) {
	if len(given) == 0 {
		return defaultScopes, nil
	}
	var out []string
	for _, known := range reply.Scopes {
		if slices.Contains(given, string(known)) {
			out = append(out, string(known))
		}
	}
	for _, name := range given {
		if !slices.Contains(out, name) {
			return nil, invalidInput("scopes", CodeScope, "There is no scope of that name.", "Use read, run, manage or all.")
		}
	}
	if slices.Contains(out, string(reply.ScopeAll)) {
		return []string{string(reply.ScopeAll)}, nil
	}
	return out, nil
}

// scopesAllow reports whether the scopes permit what needs one. A route without a scope requires ScopeAll.
func scopesAllow(scopes []string, needed reply.Scope) bool {
	return slices.Contains(scopes, string(reply.ScopeAll)) || needed != "" && slices.Contains(scopes, string(needed))
}

func insufficient(w http.ResponseWriter, r *http.Request, needed reply.Scope) {
	if needed == "" {
		needed = reply.ScopeAll
	}
	w.Header().Set("WWW-Authenticate", `Bearer realm="pdpp", error="insufficient_scope", scope="`+string(needed)+`"`)
	reply.WriteFailure(w, r, reply.TypePermission, &usererr.Error{
		Status: http.StatusForbidden, Code: CodeInsufficientScope,
		Message: "This owner token may not do that: it needs the scope " + string(needed) + ".",
		Next: "Make a token with it, in the settings or on the server's machine: pdpp tokens create LABEL --scope " +
			string(needed),
	})
}
