package auth

import (
	"net/http"
	"slices"

	"github.com/pdpp-go/pdpp/internal/ops/fault"
	"github.com/pdpp-go/pdpp/internal/web/reply"
)

// everyday is what a token may do unless its owner says otherwise: everything but to
// make further ways in.
var everyday = []string{string(reply.ScopeRead), string(reply.ScopeRun), string(reply.ScopeManage)}

// readScopes gives scopes in their order, each once. All stands alone, and none at all
// means those of every day.
func readScopes(given []string) ([]string, error) {
	if len(given) == 0 {
		return everyday, nil
	}
	var out []string
	for _, known := range reply.Scopes {
		if slices.Contains(given, string(known)) {
			out = append(out, string(known))
		}
	}
	for _, name := range given {
		if !slices.Contains(out, name) {
			return nil, invalid("scopes", CodeScope, "There is no scope of that name.", "Use read, run, manage or all.")
		}
	}
	if slices.Contains(out, string(reply.ScopeAll)) {
		return []string{string(reply.ScopeAll)}, nil
	}
	return out, nil
}

// allowed says whether somebody with the scopes may do what needs one. A route that
// names none is for those who may do everything.
func allowed(scopes []string, needed reply.Scope) bool {
	return slices.Contains(scopes, string(reply.ScopeAll)) || needed != "" && slices.Contains(scopes, string(needed))
}

func insufficient(w http.ResponseWriter, r *http.Request, needed reply.Scope) {
	if needed == "" {
		needed = reply.ScopeAll
	}
	w.Header().Set("WWW-Authenticate", `Bearer realm="pdpp", error="insufficient_scope", scope="`+string(needed)+`"`)
	reply.Fail(w, r, reply.TypePermission, &fault.Fault{
		Status: http.StatusForbidden, Code: CodeInsufficientScope, Message: "This owner token may not do that: it needs the scope " + string(needed) + ".",
		Next: "Make a token with it, in the settings or on the server's machine: pdpp tokens create LABEL --scope " + string(needed),
	})
}
