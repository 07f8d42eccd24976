// Package routes serves what an owner can see and do as JSON over HTTP. The routes are derived from
// the operation table (api.Operations); those that no method of the owner answers are written here.
// api.Client is the other end.
//
// The server checks who may ask before a request gets here: it mounts these routes behind the
// owner's session or token.
package routes

import (
	"log/slog"
	"net/http"
	"reflect"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/web/reply"
)

// surface is what the routes share.
type surface struct {
	owner api.Owner
	log   *slog.Logger
}

// Routes returns every address. The log receives failures of the server that the caller cannot
// fix; nil discards them.
func Routes(o api.Owner, log *slog.Logger) []reply.Route {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	s := &surface{owner: o, log: log}
	byHand := map[string]handler{
		"Run": s.run, "Decide": s.decide, "Import": s.importFile, "AddPiece": s.addPiece, "Export": s.export,
		"CopyFile": s.file, "ReviewSourceFile": s.sourceFile(api.Owner.ReviewSourceFile, http.StatusOK),
		"AddSourceFile": s.sourceFile(api.Owner.AddSourceFile, http.StatusCreated),
	}
	var all []reply.Route
	for _, operation := range api.Operations() {
		if operation.Name == "" { // it shares the route of another
			continue
		}
		handle := byHand[operation.Method()]
		if handle == nil {
			handle = func(w http.ResponseWriter, r *http.Request) error { return operation.Serve(w, r, o) }
		}
		described := operation.Describe()
		switch operation.Method() {
		case "Run":
			described.Body, described.BodyOptional = reflect.TypeFor[api.RunOptions](), true
		case "Import": // content that was imported before
			described.Answers = append(described.Answers, reply.Answer{Status: http.StatusOK, Body: described.Answers[0].Body})
		}
		all = append(all, reply.Route{Pattern: operation.Route, Scope: operation.Scope, Handle: s.serve(handle),
			Operation: described})
	}
	return append(all, s.withoutMethod()...)
}

// handler answers a request. An error that it returns is answered for it.
type handler func(w http.ResponseWriter, r *http.Request) error

func (s *surface) serve(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := h(w, r); err != nil {
			s.fail(w, r, err)
		}
	}
}
