package auth

import (
	"context"
	"encoding/hex"
	"errors"
	"net/http"

	"github.com/pdpp-go/pdpp/internal/keep/audit"
	"github.com/pdpp-go/pdpp/internal/ops/fault"
	"github.com/pdpp-go/pdpp/internal/web/strangers"
)

// actor is who the audit trail names. A session is told by a part of its digest, which
// opens nothing.
func (i Identity) actor() audit.Actor {
	if i.Kind == ByToken {
		return audit.Actor{Kind: audit.OwnerToken, ID: i.TokenID, Name: i.label, Address: i.address}
	}
	return audit.Actor{Kind: audit.Session, ID: sessionName(i.session), Address: i.address}
}

func sessionName(digest []byte) string {
	if len(digest) < 6 {
		return ""
	}
	return hex.EncodeToString(digest[:6])
}

// newcomer is the context of a request by somebody who tries to come in: a stranger
// unless it went well.
func newcomer(r *http.Request, err error) context.Context {
	by := audit.Actor{Kind: audit.Stranger, Address: strangers.Origin(r)}
	if err == nil {
		by.Kind = audit.Session
	}
	return audit.With(r.Context(), by)
}

// record writes down how something ended. What was given up halfway is left out.
func (d *Auth) record(ctx context.Context, e audit.Entry, err error) {
	var refusal *fault.Fault
	switch {
	case errors.As(err, &refusal):
		e.Outcome, e.Reason = audit.Refused, refusal.Code
	case err != nil && ctx.Err() != nil:
		return
	case err != nil:
		e.Outcome = audit.Failed
	}
	d.audit.Record(ctx, e)
}
