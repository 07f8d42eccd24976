package sample

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/pdpp-go/pdpp/providersim"
)

const (
	defaultLimit = 100
	maxPageLimit = 200
)

// apiRefusal is a refusal in the provider's format.
type apiRefusal struct {
	status int
	code   string
}

func refusalBody(code string) []byte {
	return providersim.EncodeJSON(map[string]any{"error": map[string]string{"code": code}})
}

func badRequest(code string) *apiRefusal { return &apiRefusal{http.StatusBadRequest, code} }

// endpointFunc answers one authorized request with a value to render.
type endpointFunc func(r *http.Request) (any, *apiRefusal)

func (l *Lumen) apiRoutes() *http.ServeMux {
	mux := http.NewServeMux()
	handle := func(pattern, scope string, serve endpointFunc, parameters ...string) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			writeAnswer(w, r, func(r *http.Request) (any, *apiRefusal) {
				if refusal := l.authorizeRequest(r, scope); refusal != nil {
					return nil, refusal
				}
				for name := range r.URL.Query() {
					if !slices.Contains(parameters, name) {
						return nil, badRequest("unknown_parameter")
					}
				}
				return serve(r)
			})
		})
	}
	handle("GET /v1/me", "", l.serveOwnAccount)
	handle("GET /v1/events", ScopeEvents, l.serveEvents, "cursor", "limit")
	handle("GET /v1/notes/changes", ScopeNotes, l.serveChanges, "since", "limit")
	handle("GET /v1/threads", ScopeThreads, l.serveThreads, "before", "after", "page", "limit")
	handle("GET /v1/threads/{id}", ScopeThreads, l.serveThread)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { writeAnswer(w, r, l.serveElsewhere) })
	return mux
}

func writeAnswer(w http.ResponseWriter, r *http.Request, serve endpointFunc) {
	v, refusal := serve(r)
	w.Header().Set("Content-Type", "application/json")
	if refusal != nil {
		w.WriteHeader(refusal.status)
		_, _ = w.Write(refusalBody(refusal.code))
		return
	}
	_, _ = w.Write(providersim.EncodeJSON(v))
}

func (l *Lumen) authorizeRequest(r *http.Request, scope string) *apiRefusal {
	switch l.Tokens.Check(r.Header.Get("Authorization"), scope) {
	case providersim.TokenActive:
		return nil
	case providersim.TokenExpired:
		return &apiRefusal{http.StatusUnauthorized, "token_expired"}
	case providersim.TokenMissing:
		return &apiRefusal{http.StatusUnauthorized, "token_missing"}
	case providersim.TokenUnderScoped:
		return &apiRefusal{http.StatusForbidden, "insufficient_scope"}
	}
	return &apiRefusal{http.StatusUnauthorized, "token_revoked"}
}

func (l *Lumen) serveOwnAccount(*http.Request) (any, *apiRefusal) {
	return struct {
		ID   string        `json:"id"`
		Name unescapedText `json:"name"`
	}{"acc_" + strconv.FormatUint(mixSeeds(l.seed, saltForSeed), 36), unescapedText(samplePeople[0])}, nil
}

func (l *Lumen) serveElsewhere(r *http.Request) (any, *apiRefusal) {
	if r.Method != http.MethodGet {
		return nil, &apiRefusal{http.StatusMethodNotAllowed, "method_not_allowed"}
	}
	return nil, &apiRefusal{http.StatusNotFound, "not_found"}
}

func limitParameter(q url.Values) (int, *apiRefusal) {
	if !q.Has("limit") {
		return defaultLimit, nil
	}
	limit, err := strconv.Atoi(q.Get("limit"))
	switch {
	case err != nil || limit < 1:
		return 0, badRequest("invalid_limit")
	case limit > maxPageLimit:
		return 0, badRequest("limit_too_large")
	}
	return limit, nil
}

// nonNilItems keeps an empty list from being rendered as null.
func nonNilItems(size int) []json.RawMessage { return make([]json.RawMessage, 0, size) }
