package cli

import (
	"errors"
	"net/http"
	"strings"

	"pdpp/internal/ops/text"

	"pdpp/internal/keep/backup"
	"pdpp/internal/owner/api"
	"pdpp/internal/web/auth"
)

// describeOwner describes what the owner's service or a server answered; nil for any
// other error. Its sentences are shown as they are.
func describeOwner(err error) *Error {
	var told *api.Error
	if !errors.As(err, &told) {
		return nil
	}
	e := &Error{Code: told.Code, Message: text.Cut(oneLine(told.Message), maxMessage), Next: text.Cut(oneLine(told.Next), maxMessage), Exit: ExitFailed, Err: err}
	if told.Param != "" && told.Status == http.StatusBadRequest && !strings.Contains(told.Message, told.Param) {
		e.Message += " (" + safe(told.Param) + ")"
	}
	switch {
	case told.Code == api.CodeRunActive:
		e.Exit = ExitActive
		if told.RunID != "" {
			e.Next = "Wait until it ends, or stop it: pdpp cancel " + safe(told.RunID)
		}
	case told.Code == api.CodeProviderWait:
		e.Exit = ExitWait
		if told.Until != nil { // which the sentence has in another zone
			e.Message = waitText(*told.Until)
		}
		e.Next = "The run starts by itself then (take it back: pdpp cancel " + safe(told.ConnectionID) + "). To ask before, which may lock you out for longer, add --ask-anyway."
	case told.Code == api.CodeUnreachable, strings.HasPrefix(told.Code, "storage_"):
		e.Exit = ExitStorage
	case told.Status == http.StatusUnauthorized:
		e.Exit = ExitOwner
		e.Next = "The token is wrong, expired or revoked. Make a new one and sign in again: pdpp login URL"
	case told.Code == auth.CodeInsufficientScope:
		e.Exit = ExitOwner
	case told.Status == http.StatusNotFound:
		e.Exit = ExitNotFound
	case told.Status == http.StatusBadRequest, told.Status == http.StatusUnprocessableEntity:
		e.Exit = ExitUsage
	}
	return e
}

// describeBackup describes errors of archives; nil for any other.
func describeBackup(err error) *Error {
	var told *backup.Error
	if !errors.As(err, &told) {
		return nil
	}
	e := &Error{Code: told.Code, Message: safe(told.Message), Next: told.NextStep(), Exit: ExitFailed, Err: err}
	switch told.Code {
	case backup.CodeInvalid, backup.CodeKeyNeeded:
		e.Exit = ExitUsage
	case backup.CodeNoData:
		e.Exit = ExitStorage
	case backup.CodeHomeInUse, backup.CodeBusy:
		e.Exit = ExitActive
	case backup.CodeWrongKey, backup.CodeNotSealed:
		e.Exit = ExitOwner
	case "not_found":
		e.Exit = ExitNotFound
	}
	return e
}

// hasCode reports whether the owner's service or a server answered with this code.
func hasCode(err error, code string) bool {
	var told *api.Error
	return errors.As(err, &told) && told.Code == code
}
