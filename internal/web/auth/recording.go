package auth

import (
	"context"
	"encoding/hex"
	"errors"
	"net/http"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/storage/audit"
	"github.com/pdpp-go/pdpp/internal/web/tokenqueue"
)

// actor is the caller in the audit trail. A session is identified by a part of its digest, which grants nothing.
func (i Identity) actor() audit.Actor {
	if i.Kind == ByToken {
		return audit.Actor{Kind: audit.OwnerToken, ID: i.TokenID, Name: i.label, Address: i.address}
	}
	return audit.Actor{Kind: audit.SessionActor, ID: sessionName(i.session), Address: i.address}
}

func sessionName(digest []byte) string {
	if len(digest) < 6 {
		return ""
	}
	return hex.EncodeToString(digest[:6])
}

// signInContext returns the context of a sign-in attempt: a stranger's unless it succeeded.
func signInContext(r *http.Request, err error) context.Context {
	by := audit.Actor{Kind: audit.UnknownActor, Address: tokenqueue.Origin(r)}
	if err == nil {
		by.Kind = audit.SessionActor
	}
	return audit.WithActor(r.Context(), by)
}

// record adds the outcome to the audit trail. Cancelled operations are left out.
func (d *Auth) record(ctx context.Context, e audit.Entry, err error) {
	var refusal *usererr.Error
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
