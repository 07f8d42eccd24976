// Package routes offers what an owner can see and do as JSON over HTTP. Every
// answer is what api.Owner gave, verbatim; api.Client is the other end.
//
// Who may ask is settled before a request gets here: the server mounts these routes
// behind the owner's session or token.
package routes

import (
	"log/slog"
	"slices"

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
	all := slices.Concat(s.looking(), s.gaps(), s.bookmarks(), s.connecting(), s.importing(), s.devices(), s.scheduling(),
		s.running(), s.reading(), s.searching(), s.deleting(), s.granting(), s.access(), s.keeping(), s.agents())
	for i := range all {
		all[i].Scope = scopes[all[i].Pattern]
	}
	return all
}
