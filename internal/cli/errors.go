package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/keep/backup"
	"github.com/pdpp-go/pdpp/internal/keep/credential"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/ops/fault"
	"github.com/pdpp-go/pdpp/internal/ops/redact"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/schedule/scheduler"
	"github.com/pdpp-go/pdpp/internal/web/auth"
)

// Exit codes. They are stable: scripts may rely on them.
const (
	ExitOK        = 0
	ExitFailed    = 1 // the run or the operation failed
	ExitUsage     = 2 // the command line or the configuration is wrong
	ExitNotFound  = 3 // what was named does not exist
	ExitActive    = 4 // another run holds the connection
	ExitStorage   = 5 // the database, or the remote server, is missing or unusable
	ExitCancelled = 6 // the owner stopped it
	ExitOwner     = 7 // the owner must act: credentials are missing or were refused
	ExitWait      = 8 // the source is to be left alone for a while; nothing was started
)

const exitCodesText = `Every command ends with one of these codes. They do not change between versions.

  0  it worked
  1  the run or the operation failed
  2  the command line or the configuration is wrong; nothing was done
  3  what you named does not exist
  4  another run holds the connection (run_already_active)
  5  the database is missing, locked, read-only, full, damaged or out of reach,
     or the server is
  6  you stopped it (Ctrl-C); finished slices are kept
  7  you need to act: credentials, a token or a passphrase are missing or were refused
  8  the source is to be left alone for a while (provider_wait); nothing was started

An error is one line "pdpp: ..." and one line "next: ..." on standard error.
With --json it is {"error":{"code","message","next_step"}} there, and standard
output stays empty. A run that has started reports its failure inside its own
JSON result instead.`

// Error is what a command failed with.
type Error = fault.Fault

// exitOnly ends the program with a code; everything has been said already.
type exitOnly struct{ code int }

func (e *exitOnly) Error() string { return fmt.Sprintf("exit code %d", e.code) }

func usage(message, next string) *Error {
	return &Error{Code: "usage", Message: message, Next: next, Exit: ExitUsage}
}

func notFound(message, next string) *Error {
	return &Error{Code: "not_found", Message: message, Next: next, Exit: ExitNotFound}
}

func revoked(connectionID string) *Error {
	return &Error{Code: "connection_revoked", Exit: ExitFailed, Message: "connection " + connectionID + " was revoked",
		Next: "What it collected stays readable. Connect the source anew to collect again."}
}

const maxMessage = 500

// waitText says until when nothing is sent to a source, in local time as everywhere here.
func waitText(until time.Time) string {
	return "the source is to be left alone until " + when(until) + "; nothing was started"
}

// waitNext is what an owner can do whose source is to be left alone.
const waitNext = "Wait until then. To ask it before, which may lock you out for longer, add --ask-anyway."

// describe turns any error into one that can be shown.
func describe(err error) *Error {
	var known *Error
	var active *store.ActiveRunError
	var unusable *store.FaultError
	var waits *store.WaitError
	isKnown := errors.As(err, &known)
	for within := known; isKnown && errors.As(known.Err, &within) && within.Code == known.Code && within.Exit == known.Exit; {
		known = within // the part's own words for the same
	}
	switch {
	case isKnown && known.Exit != 0: // the command's own words
		return known
	case errors.As(err, &active):
		return &Error{
			Code: "run_already_active", Exit: ExitActive, Err: err,
			Message: fmt.Sprintf("run %s is using connection %s (%s)", active.RunID, active.ConnectionID, active.Holder),
			Next:    "Wait until it ends, look at it (pdpp run show " + active.RunID + "), or stop it (pdpp cancel " + active.RunID + ").",
		}
	case !isKnown && errors.As(err, &waits):
		return &Error{
			Code: api.CodeProviderWait, Exit: ExitWait, Err: err, Next: waitNext,
			Message: waitText(waits.Until),
		}
	case errors.As(err, &unusable):
		return &Error{
			Code: string(unusable.Fault), Exit: ExitStorage, Err: err, Next: unusable.NextStep(),
			Message: safe(fmt.Sprintf("%s: %s (%v)", faultWords(unusable.Fault), unusable.Where, unusable.Err)),
		}
	case isKnown:
		return describeFault(known, err)
	case errors.Is(err, catalog.ErrUnknownConnector):
		return &Error{
			Code: "unknown_connector", Exit: ExitNotFound, Err: err, Message: safe(err.Error()),
			Next: "List what is installed: pdpp connectors",
		}
	case errors.Is(err, store.ErrNotFound):
		return &Error{Code: "not_found", Exit: ExitNotFound, Err: err, Message: safe(err.Error()), Next: "Check the name, and the folder that --home names."}
	case errors.Is(err, errTerminated):
		return &Error{Code: "terminated", Exit: ExitCancelled, Err: err, Message: err.Error(), Next: "Run the same command again when you like."}
	case errors.Is(err, runner.ErrOwnerCancelled), errors.Is(err, context.Canceled):
		return &Error{Code: "cancelled", Exit: ExitCancelled, Err: err, Message: "stopped, as you asked", Next: "Run the same command again when you like."}
	default:
		return &Error{Code: "failed", Exit: ExitFailed, Err: err, Message: safe(err.Error()), Next: "Try again. If it stays, see docs/operations.md."}
	}
}

// exits are the codes whose exit code their status does not say.
var exits = map[string]int{
	api.CodeRunActive: ExitActive, api.CodeProviderWait: ExitWait, api.CodeUnreachable: ExitStorage,
	auth.CodeInsufficientScope: ExitOwner, auth.CodeWrongPassword: ExitFailed, auth.CodeWrongCode: ExitFailed,
	credential.CodeWrongKey: ExitFailed, credential.CodeDamaged: ExitFailed, "push_failed": ExitFailed,
	backup.CodeInvalid: ExitUsage, backup.CodeKeyNeeded: ExitUsage, backup.CodeNoData: ExitStorage, backup.CodeHomeInUse: ExitActive,
	backup.CodeBusy: ExitActive, backup.CodeWrongKey: ExitOwner, backup.CodeNotSealed: ExitOwner, api.CodeNotFound: ExitNotFound,
}

// describeFault shows a fault of another part as it is, and finds its exit code.
func describeFault(f *Error, err error) *Error {
	e := &Error{Code: f.Code, Message: text.Cut(oneLine(f.Message), maxMessage), Next: text.Cut(oneLine(f.Next), maxMessage), Exit: ExitFailed, Err: err}
	if f.Param != "" && f.Status == http.StatusBadRequest && !strings.Contains(f.Message, f.Param) {
		e.Message += " (" + safe(f.Param) + ")"
	}
	exit, listed := exits[f.Code]
	switch {
	case listed:
		e.Exit = exit
	case strings.HasPrefix(f.Code, "storage_"):
		e.Exit = ExitStorage
	case f.Status == http.StatusUnauthorized:
		e.Exit, e.Next = ExitOwner, "The token is wrong, expired or revoked. Make a new one and sign in again: pdpp login URL"
	case f.Status == http.StatusNotFound:
		e.Exit = ExitNotFound
	case f.Status == http.StatusBadRequest, f.Status == http.StatusUnprocessableEntity:
		e.Exit = ExitUsage
	}
	switch {
	case f.Code == api.CodeRunActive && f.RunID != "":
		e.Next = "Wait until it ends, or stop it: pdpp cancel " + safe(f.RunID)
	case f.Code == api.CodeProviderWait:
		if f.Until != nil { // which the sentence has in another zone
			e.Message = waitText(*f.Until)
		}
		e.Next = "The run starts by itself then (take it back: pdpp cancel " + safe(f.ConnectionID) + "). To ask before, which may lock you out for longer, add --ask-anyway."
	case f.Code == scheduler.ErrNoWorker.Code:
		e.Message = scheduler.ErrNoWorker.Message // a server writes it as a sentence
		e.Next = "Start one (pdpp serve), or leave --now out to run it here."
	}
	return e
}

// hasCode reports whether the owner's service or a server answered with this code.
func hasCode(err error, code string) bool { return errors.Is(err, &Error{Code: code}) }

// safe keeps secrets and line breaks out of a message that another part wrote.
func safe(s string) string { return redact.New().Line(s, maxMessage) }

func faultWords(f store.Fault) string {
	switch f {
	case store.FaultCorrupt:
		return "the database is damaged"
	case store.FaultLocked:
		return "the database is in use by another program"
	case store.FaultReadOnly:
		return "the database cannot be written"
	case store.FaultFull:
		return "the disk is full"
	case store.FaultUnreachable:
		return "the database cannot be reached"
	case store.FaultTooOld:
		return "the database is older than this program can upgrade"
	case store.FaultTooNew:
		return "the database is newer than this program"
	case store.FaultNotADB:
		return "this is not a PDPP database"
	default:
		return "the database is not usable"
	}
}
