package cli

import (
	"errors"
	"slices"
	"strings"

	"pdpp/internal/collect/interaction"
	"pdpp/internal/keep/credential"
	"pdpp/internal/schedule/notify"
	"pdpp/internal/schedule/scheduler"
	"pdpp/internal/web/auth"
	"pdpp/internal/web/server"
)

// Codes of other parts that mean a mistake in what was given, or that what was
// named is not there. All others are failures.
var (
	mistakes = []string{
		string(credential.CodeInvalid), string(credential.CodeKeyInvalid), string(credential.CodeKeyExposed),
		auth.CodeLabel, auth.CodeExpiry, auth.CodeScope, auth.CodePasswordShort, auth.CodePasswordLong, "push_target_invalid", "quiet_hours_invalid", "web_push_keys_invalid",
		interaction.ErrInvalidAnswer.Code, interaction.ErrInvalidStatus.Code,
	}
	absences = []string{interaction.ErrNotPending.Code}
)

// describeAdvised describes errors of parts that name their own code and next
// step; nil for any other. An error of this package around one counts first.
func describeAdvised(err error) *Error {
	var known *Error
	var sealed *credential.Error
	var push *notify.Error
	var question *interaction.Error
	var refused *auth.Refusal
	var unheard *server.ListenError
	var e *Error
	switch {
	case errors.As(err, &known):
		return nil
	case errors.As(err, &sealed):
		e = &Error{Code: string(sealed.Code), Message: sealed.Message, Next: sealed.NextStep()}
	case errors.As(err, &push):
		e = &Error{Code: push.Code, Message: push.Message, Next: push.NextStep()}
	case errors.As(err, &question):
		e = &Error{Code: question.Code, Message: question.Message, Next: question.NextStep()}
		if len(question.Fields) > 0 {
			e.Message += ": " + strings.Join(question.Fields, ", ")
		}
	case errors.As(err, &refused):
		e = &Error{Code: refused.Code, Message: refused.Message, Next: refused.Next}
	case errors.As(err, &unheard):
		e = &Error{Code: unheard.Code, Message: unheard.Message, Next: unheard.Next}
	case errors.Is(err, scheduler.ErrNoWorker):
		e = &Error{Code: scheduler.ErrNoWorker.Error(), Message: "no worker is there to make the run",
			Next: "Start one (pdpp serve), or leave --now out to run it here."}
	default:
		return nil
	}
	e.Err, e.Message, e.Exit = err, safe(e.Message), ExitFailed
	switch {
	case slices.Contains(mistakes, e.Code):
		e.Exit = ExitUsage
	case slices.Contains(absences, e.Code):
		e.Exit = ExitNotFound
	}
	return e
}
