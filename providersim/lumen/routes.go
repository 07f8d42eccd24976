package lumen

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
	maxLimit     = 200
)

// apiError is a refusal as the provider words it.
type apiError struct {
	status int
	code   string
}

func errorBody(code string) []byte {
	return providersim.EncodeJSON(map[string]any{"error": map[string]string{"code": code}})
}

func badRequest(code string) *apiError { return &apiError{http.StatusBadRequest, code} }

// endpoint answers one authorized request with a value to render.
type endpoint func(r *http.Request) (any, *apiError)

func (l *Lumen) routes() *http.ServeMux {
	mux := http.NewServeMux()
	handle := func(pattern, scope string, serve endpoint, parameters ...string) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			answer(w, r, func(r *http.Request) (any, *apiError) {
				if refusal := l.authorize(r, scope); refusal != nil {
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
	handle("GET /v1/me", "", l.serveMe)
	handle("GET /v1/events", ScopeEvents, l.serveEvents, "cursor", "limit")
	handle("GET /v1/notes/changes", ScopeNotes, l.serveChanges, "since", "limit")
	handle("GET /v1/threads", ScopeThreads, l.serveThreads, "before", "after", "page", "limit")
	handle("GET /v1/threads/{id}", ScopeThreads, l.serveThread)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { answer(w, r, l.serveElsewhere) })
	return mux
}

func answer(w http.ResponseWriter, r *http.Request, serve endpoint) {
	v, refusal := serve(r)
	w.Header().Set("Content-Type", "application/json")
	if refusal != nil {
		w.WriteHeader(refusal.status)
		_, _ = w.Write(errorBody(refusal.code))
		return
	}
	_, _ = w.Write(providersim.EncodeJSON(v))
}

func (l *Lumen) authorize(r *http.Request, scope string) *apiError {
	switch l.Tokens.Check(r.Header.Get("Authorization"), scope) {
	case providersim.TokenActive:
		return nil
	case providersim.TokenExpired:
		return &apiError{http.StatusUnauthorized, "token_expired"}
	case providersim.TokenMissing:
		return &apiError{http.StatusUnauthorized, "token_missing"}
	case providersim.TokenUnderScoped:
		return &apiError{http.StatusForbidden, "insufficient_scope"}
	}
	return &apiError{http.StatusUnauthorized, "token_revoked"}
}

func (l *Lumen) serveMe(*http.Request) (any, *apiError) {
	return struct {
		ID   string `json:"id"`
		Name text   `json:"name"`
	}{"acc_" + strconv.FormatUint(mix(l.seed, saltSeed), 36), text(people[0])}, nil
}

func (l *Lumen) serveElsewhere(r *http.Request) (any, *apiError) {
	if r.Method != http.MethodGet {
		return nil, &apiError{http.StatusMethodNotAllowed, "method_not_allowed"}
	}
	return nil, &apiError{http.StatusNotFound, "not_found"}
}

func limitOf(q url.Values) (int, *apiError) {
	if !q.Has("limit") {
		return defaultLimit, nil
	}
	limit, err := strconv.Atoi(q.Get("limit"))
	switch {
	case err != nil || limit < 1:
		return 0, badRequest("invalid_limit")
	case limit > maxLimit:
		return 0, badRequest("limit_too_large")
	}
	return limit, nil
}

// items keeps an empty list from being rendered as null.
func items(size int) []json.RawMessage { return make([]json.RawMessage, 0, size) }
