// Package failure turns errors into what an owner or a script reads: a code, a message, a next step and an exit
// code.
package failure

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/ops/redact"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/schedule/scheduler"
	"github.com/pdpp-go/pdpp/internal/storage/backup"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
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
	ExitWait      = 8 // the source requested a pause; nothing was started
)

// ExitCodesHelp explains the exit codes.
const ExitCodesHelp = `Every command ends with one of these codes. They do not change between versions.

  0  it worked
  1  the run or the operation failed
  2  the command line or the configuration is wrong; nothing was done
  3  what you named does not exist
  4  another run holds the connection (run_already_active)
  5  the database is missing, locked, read-only, full, damaged or out of reach,
     or the server is
  6  you stopped it (Ctrl-C); finished slices are kept
  7  you need to act: credentials, a token or a passphrase are missing or were refused
  8  the source asked for a pause (provider_wait); nothing was started

An error is one line "pdpp: ..." and one line "next: ..." on standard error.
With --json it is {"error":{"code","message","next_step"}} there, and standard
output stays empty. A run that has started reports its failure inside its own
JSON result instead.`

// Error is the error of a command.
type Error = usererr.Error

// ExitError ends the program with a code when the command has printed everything.
type ExitError struct{ Code int }

func (e *ExitError) Error() string { return fmt.Sprintf("exit code %d", e.Code) }

// UsageError returns an error for a wrong command line.
func UsageError(message, next string) *Error {
	return &Error{Code: "usage", Message: message, Next: next, Exit: ExitUsage}
}

// UnknownName returns an error for a name that does not exist.
func UnknownName(message, next string) *Error {
	return &Error{Code: "not_found", Message: message, Next: next, Exit: ExitNotFound}
}

// ConnectionRevoked returns the error for a connection that was revoked.
func ConnectionRevoked(connectionID string) *Error {
	return &Error{Code: "connection_revoked", Exit: ExitFailed, Message: "connection " + connectionID + " was revoked",
		Next: "Its records stay readable. To collect again, connect the source again."}
}

const longestMessage = 500

// providerWaitMessage returns until when nothing is sent to a source, in local time.
func providerWaitMessage(until time.Time) string {
	return "the source asked for a pause until " + output.FormatTime(until) + "; nothing was started"
}

// providerWaitNextStep is the next step while a source requests a pause.
const providerWaitNextStep = "Wait until then. To ask it before, which may lock you out for longer, add --ask-anyway."

// Describe turns any error into one that can be printed.
func Describe(err error) *Error {
	var known *Error
	var active *store.ActiveRunError
	var unusable *store.FaultError
	var waits *store.WaitError
	isKnown := errors.As(err, &known)
	for within := known; isKnown && errors.As(known.Err, &within) && within.Code == known.Code &&
		within.Exit == known.Exit; {
		known = within // the part's own words for the same
	}
	switch {
	case isKnown && known.Exit != 0: // the command's own words
		return known
	case errors.As(err, &active):
		return &Error{
			Code: "run_already_active", Exit: ExitActive, Err: err,
			Message: fmt.Sprintf("run %s is using connection %s (%s)", active.RunID, active.ConnectionID, active.Holder),
			Next: "Wait until it ends, look at it (pdpp run show " + active.RunID + "), or stop it (pdpp cancel " +
				active.RunID + ").",
		}
	case !isKnown && errors.As(err, &waits):
		return &Error{
			Code: api.CodeProviderWait, Exit: ExitWait, Err: err, Next: providerWaitNextStep,
			Message: providerWaitMessage(waits.Until),
		}
	case errors.As(err, &unusable):
		return &Error{
			Code: string(unusable.Fault), Exit: ExitStorage, Err: err, Next: unusable.NextStep(),
			Message: SafeText(fmt.Sprintf("%s: %s (%v)", storageFaultMessage(unusable.Fault), unusable.Where, unusable.Err)),
		}
	case isKnown:
		return describeOwnerFault(known, err)
	case errors.Is(err, catalog.ErrUnknownConnector):
		return &Error{
			Code: "unknown_connector", Exit: ExitNotFound, Err: err, Message: SafeText(err.Error()),
			Next: "List what is installed: pdpp connectors",
		}
	case errors.Is(err, store.ErrNotFound):
		return &Error{Code: "not_found", Exit: ExitNotFound, Err: err, Message: SafeText(err.Error()),
			Next: "Check the name, and the folder that --home names."}
	case errors.Is(err, ErrTerminated):
		return &Error{Code: "terminated", Exit: ExitCancelled, Err: err, Message: err.Error(),
			Next: "Run the same command again when you like."}
	case errors.Is(err, runner.ErrOwnerCancelled), errors.Is(err, context.Canceled):
		return &Error{Code: "cancelled", Exit: ExitCancelled, Err: err, Message: "stopped, as you asked",
			Next: "Run the same command again when you like."}
	default:
		return &Error{Code: "failed", Exit: ExitFailed, Err: err, Message: SafeText(err.Error()),
			Next: "Try again. If it fails again, see docs/operate."}
	}
}

// exitByCode lists error codes that determine the exit code regardless of their HTTP status.
var exitByCode = map[string]int{
	api.CodeRunActive: ExitActive, api.CodeProviderWait: ExitWait, api.CodeUnreachable: ExitStorage,
	auth.CodeInsufficientScope: ExitOwner, auth.CodeWrongPassword: ExitFailed, auth.CodeWrongCode: ExitFailed,
	credential.CodeWrongKey: ExitFailed, credential.CodeDamaged: ExitFailed, "push_failed": ExitFailed,
	backup.CodeInvalid: ExitUsage, backup.CodeKeyNeeded: ExitUsage, backup.CodeNoData: ExitStorage,
	backup.CodeHomeInUse: ExitActive,
	backup.CodeBusy:      ExitActive, backup.CodeWrongKey: ExitOwner, backup.CodeNotSealed: ExitOwner,
	api.CodeNotFound: ExitNotFound,
}

// describeOwnerFault keeps the message of another part's fault and adds the exit code.
func describeOwnerFault(f *Error, err error) *Error {
	e := &Error{Code: f.Code, Message: text.Cut(output.SingleLine(f.Message), longestMessage),
		Next: text.Cut(output.SingleLine(f.Next), longestMessage), Exit: ExitFailed, Err: err}
	if f.Param != "" && f.Status == http.StatusBadRequest && !strings.Contains(f.Message, f.Param) {
		e.Message += " (" + SafeText(f.Param) + ")"
	}
	exit, listed := exitByCode[f.Code]
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
		e.Next = "Wait until it ends, or stop it: pdpp cancel " + SafeText(f.RunID)
	case f.Code == api.CodeProviderWait:
		if f.Until != nil { // which the sentence has in another zone
			e.Message = providerWaitMessage(*f.Until)
		}
		e.Next = "The run starts then (withdraw it: pdpp cancel " + SafeText(f.ConnectionID) +
			"). To ask before, which may lock you out for longer, add --ask-anyway."
	case f.Code == scheduler.ErrNoWorker.Code:
		e.Message = scheduler.ErrNoWorker.Message // a server writes it as a sentence
		e.Next = "Start one (pdpp serve), or leave --now out to run it here."
	}
	return e
}

// HasCode reports whether the owner's service or a server returned this error code.
func HasCode(err error, code string) bool { return errors.Is(err, &Error{Code: code}) }

// SafeText removes secrets and line breaks from a message of another part.
func SafeText(s string) string { return redact.New().Line(s, longestMessage) }

func storageFaultMessage(f store.StorageFault) string {
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

// ErrTerminated is the cause of a stop by the system.
var ErrTerminated = errors.New("the system asked the program to stop")

// ConfigurationError returns an error for a wrong variable or file of the configuration.
func ConfigurationError(message, next string) *Error {
	return &Error{Code: "configuration", Message: message, Next: next, Exit: ExitUsage}
}

// ErrUnchanged ends a command after the owner left its question.
var ErrUnchanged = &Error{Code: "cancelled", Exit: ExitCancelled, Message: "nothing was changed",
	Next: "Repeat the command when you like."}

// WithSubject prefixes the message with the connection.
func WithSubject(id string, e *Error) *Error {
	of := *e
	of.Message = id + ": " + of.Message
	return &of
}

// StorageError turns a failure to open the database into a storage fault, except a cancellation.
func StorageError(ctx context.Context, err error, where string) error {
	var fault *store.FaultError
	switch {
	case err == nil, errors.As(err, &fault), ctx.Err() != nil:
		return err
	case errors.Is(err, os.ErrPermission):
		return &store.FaultError{Fault: store.FaultReadOnly, Where: where, Err: RootCause(err)}
	default:
		return &Error{
			Code: "storage_unusable", Exit: ExitStorage, Err: err, Message: SafeText("the database cannot be opened: " +
				err.Error()),
			Next: "Check that PDPP_HOME names a folder, and that PDPP_DATABASE_URL, if set, is right.",
		}
	}
}

// RootCause returns the innermost error.
func RootCause(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

// Error code and next step of an installed connector that cannot be used.
const (
	CodeConnectorUnusable     = "connector_unusable"
	ConnectorUnusableNextStep = "Fix the connector (pdpp-connectors validate DIR shows details) or remove it from the " +
		"connectors folder."
)
