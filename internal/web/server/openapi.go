package server

import (
	_ "embed"
	"net/http"
)

// openAPI describes every JSON address of the server. Tests hold it against the routes
// and against what they answer.
//
//go:embed openapi.json
var openAPI []byte

// OpenAPI answers with the description of every JSON address. It says nothing of this
// server, so that anybody may read it.
func OpenAPI() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(openAPI) // a client that is gone does not read it
	})
}
