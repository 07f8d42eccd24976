package readapi

import (
	"errors"
	"net/http"

	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/storage/audit"
	"github.com/pdpp-go/pdpp/internal/web/tokenqueue"
)

// actor is who the audit trail names.
func actor(r *http.Request, who grants.Access) audit.Actor {
	by := audit.Actor{Kind: audit.UnknownActor, Address: tokenqueue.Origin(r)}
	if g := who.Grant(); g != nil {
		by.Kind, by.ID, by.Name = audit.Grant, g.ID, g.ClientName
	}
	return by
}

// noteRefusal records that a client asked for something that it may not read, without the content of the request.
func (a *api) noteRefusal(r *http.Request, err error) {
	var refused grants.Refusal
	if errors.As(err, &refused) && (refused.Status == http.StatusUnauthorized || refused.Status == http.StatusForbidden) {
		a.Audit.Record(r.Context(), audit.Entry{Kind: audit.Read, Outcome: audit.Refused, Reason: refused.Code})
	}
}
