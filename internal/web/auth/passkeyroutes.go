package auth

import (
	"context"
	"errors"
	"net/http"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/storage/audit"
	"github.com/pdpp-go/pdpp/internal/web/reply"
)

// passkey answers the script of a page: it begins what the address names, or finishes
// it with the passkey's answer.
func (d *Auth) passkey(finish bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		to := purpose(r.PathValue("for"))
		ctx, signedIn, err := d.authenticate(w, r)
		switch {
		case err != nil:
			d.failStore(w, r, err)
			return
		case to != toAdd && to != toSignIn && to != toConfirm:
			reply.Error(w, r, http.StatusNotFound, reply.TypeInvalidRequest, "not_found", "There is nothing at this address.")
			return
		case to == toSignIn: // by a visitor
		case !signedIn:
			unauthenticated(w, r, "Your session has ended.")
			return
		case to == toAdd && !d.Fresh(ctx):
			unconfirmed(w, r)
			return
		default:
			r = r.WithContext(ctx)
		}
		if !finish {
			asked, err := d.begin(r, to, sessionOf(r))
			d.answerPasskey(w, r, asked, err)
			return
		}
		var a response
		if reply.Read(w, r, &a) {
			d.answerPasskey(w, r, struct{}{}, d.finish(w, r, a, to))
		}
	}
}

func (d *Auth) answerPasskey(w http.ResponseWriter, r *http.Request, answer any, err error) {
	var refusal *usererr.Error
	switch {
	case err == nil:
		reply.JSON(w, http.StatusOK, answer)
	case errors.As(err, &refusal):
		kind := reply.TypeInvalidRequest
		if refusal.Status == http.StatusUnauthorized {
			kind = reply.TypeAuthentication
		}
		reply.WriteFailure(w, r, kind, refusal)
	default:
		d.failStore(w, r, err)
	}
}

// finish does what the passkey was asked for.
func (d *Auth) finish(w http.ResponseWriter, r *http.Request, a response, to purpose) error {
	by := sessionOf(r)
	if to == toAdd {
		return d.add(r, a, by)
	}
	prove := func(context.Context) error { return d.prove(r, a, to, by) }
	var err error
	if to == toSignIn { // a stranger's answer costs the database reads: it waits in line
		err = d.strangers.InTurn(r, prove)
	} else {
		err = prove(r.Context())
	}
	switch {
	case err != nil:
	case to == toConfirm:
		err = d.recordProof(r.Context())
	default:
		var hash string
		if hash, err = d.storedHash(r.Context()); err == nil {
			err = d.openSession(w, r, hash, ByPasskey)
		}
	}
	if to == toConfirm {
		d.record(r.Context(), audit.Entry{Kind: audit.SignIn, Object: confirmation}, err)
	} else {
		d.record(signInContext(r, err), audit.Entry{Kind: audit.SignIn, Object: string(ByPasskey)}, err)
	}
	return err
}

// sessionOf names the session of a request; empty for a visitor.
func sessionOf(r *http.Request) string {
	who, ok := From(r.Context())
	if !ok {
		return ""
	}
	return who.key()
}
