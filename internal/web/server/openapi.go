package server

import (
	_ "embed"
	"net/http"

	"github.com/pdpp-go/pdpp/internal/web/reply"
)

//go:generate go test . -run TestDocumentIsCurrent -update

// openAPI describes every JSON address of the server. It is generated from the routes and their types.
//
//go:embed openapi.json
var openAPI []byte

// OpenAPI returns the route of the description of every JSON address. The document has nothing of
// this server in it, so that anyone may read it.
func OpenAPI() reply.Route {
	return reply.Route{Pattern: "GET /openapi.json", Handle: serveOpenAPI, Operation: reply.Operation{
		Name: "getOpenAPI", Tag: "process", Summary: "This document", Access: reply.AccessPublic,
		Answers: reply.Returns[map[string]any](http.StatusOK)}}
}

func serveOpenAPI(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(openAPI) // a client that is gone does not read it
}
