package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"pdpp/internal/collect/catalog"
	"pdpp/internal/collect/runner"
	"pdpp/internal/keep/store"
	"pdpp/internal/ops/redact"
	"pdpp/internal/owner/api"
)

// Exit codes. They are stable: scripts may rely on them.
const (
	ExitOK        = 0
	ExitFailed    = 1 // the run or the operation failed
	ExitUsage     = 2 // the command line or the configuration is wrong
	ExitNotFound  = 3 // what was named does not exist
	ExitActive    = 4 // another run holds the connection
	ExitStorage   = 5 // the database, or the server elsewhere, is missing or unusable
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

// Error is what a command failed with: a stable code, a sentence that is safe
// to show, and the next step.
type Error struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Next    string `json:"next_step,omitzero"`
	Exit    int    `json:"-"`
	Err     error  `json:"-"`
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

func (e *Error) Unwrap() error { return e.Err }

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

// waitNext is what an owner can do whose source is to be left alone.
// waitText says until when nothing is sent to a source, in local time as everywhere here.
func waitText(until time.Time) string {
	return "the source is to be left alone until " + when(until) + "; nothing was started"
}

const waitNext = "Wait until then. To ask it before, which may lock you out for longer, add --ask-anyway."

// describe turns any error into one that can be shown.
func describe(err error) *Error {
	var known *Error
	var active *store.ActiveRunError
	var fault *store.FaultError
	var waits *store.WaitError
	if advised := describeAdvised(err); advised != nil {
		return advised
	}
	owner, archive := describeOwner(err), describeBackup(err)
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &active):
		return &Error{
			Code: "run_already_active", Exit: ExitActive, Err: err,
			Message: fmt.Sprintf("run %s is using connection %s (%s)", active.RunID, active.ConnectionID, active.Holder),
			Next:    "Wait until it ends, look at it (pdpp run show " + active.RunID + "), or stop it (pdpp cancel " + active.RunID + ").",
		}
	case owner == nil && errors.As(err, &waits):
		return &Error{
			Code: api.CodeProviderWait, Exit: ExitWait, Err: err, Next: waitNext,
			Message: waitText(waits.Until),
		}
	case errors.As(err, &fault):
		return &Error{
			Code: string(fault.Fault), Exit: ExitStorage, Err: err, Next: fault.NextStep(),
			Message: safe(fmt.Sprintf("%s: %s (%v)", faultWords(fault.Fault), fault.Where, fault.Err)),
		}
	case owner != nil:
		return owner
	case archive != nil:
		return archive
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
	case store.FaultTooNew:
		return "the database is newer than this program"
	case store.FaultNotADB:
		return "this is not a PDPP database"
	default:
		return "the database is not usable"
	}
}
