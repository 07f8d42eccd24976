package failure

import (
	"errors"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/protocol"
)

// RunFailure is a classified end of a stream or of the run.
type RunFailure struct {
	Stream string
	Verdict
	Cause error
	Whole bool // it affects every stream, so the run ends
}

func (f *RunFailure) Error() string {
	if f.Cause == nil {
		return f.Code
	}
	return f.Code + ": " + f.Cause.Error()
}

func (f *RunFailure) Unwrap() error { return f.Cause }

// ownStopMessages are the texts for an owner when a stream ends because this run stopped. None of them mentions a limit
// of the provider.
var ownStopMessages = map[governor.StopReason]string{
	governor.MaxRequests:  "this run stopped by itself at its request limit; the next run continues from here",
	governor.MaxWallClock: "this run stopped by itself at its time limit; the next run continues from here",
	governor.RetriesExhausted: "this run stopped by itself because its share of retries is used up; the next run " +
		"continues from here",
	governor.CircuitOpen: "this run stopped by itself because requests kept failing; the next run continues from " +
		"here",
}

// Fault describes a record that does not match its schema. It contains a location in the schema, never content.
type Fault struct {
	Key  string // if it could be read
	Path string // such as /properties/title/type
}

func (f *Fault) Error() string { return "record does not match its schema at " + f.Path }

// Verdict contains what a class means for a whole stream: the texts for DONE.
type Verdict struct {
	Code      string
	Message   string
	Retryable bool
	Hint      protocol.RecoveryAction
}

// OwnerVerdict returns the texts for the owner of the connector with the key; session means that its credential is a
// sign-in. They are fixed, so that no part of the provider's response can reach a message.
func OwnerVerdict(e *Error, key string, session bool) Verdict {
	if text := ownStopMessages[e.Stopped]; text != "" {
		return Verdict{string(e.Stopped), text, true, protocol.RetryByRuntime}
	}
	v := verdictOfClass(e, key, session)
	if e.OwnerMessage != "" {
		v.Message = e.OwnerMessage
	}
	return v
}

// CodeForbidden is the code of a 403 with an unknown cause.
const CodeForbidden = "http_403"

func verdictOfClass(e *Error, key string, session bool) Verdict {
	switch e.Class {
	case RateLimited:
		return Verdict{
			key + "_rate_limited",
			"the provider asked to slow down",
			true,
			protocol.RetryByRuntime,
		}
	case Unavailable:
		if host := governhttp.UnreachableHost(e.Err); host != "" {
			return Verdict{
				string(Unavailable),
				host + " could not be reached; check that this machine is online and can find that name, then run again",
				true,
				protocol.RetryByRuntime,
			}
		}
		return Verdict{
			string(Unavailable),
			"the provider could not be reached or did not answer properly",
			true,
			protocol.RetryByRuntime,
		}
	case Unauthorized:
		if session {
			return Verdict{
				key + "_session_required",
				"the sign-in has ended; sign in again",
				false,
				protocol.RefreshCredentials,
			}
		}
		return Verdict{
			string(Unauthorized),
			"the provider did not accept the credential",
			false,
			protocol.RefreshCredentials,
		}
	case Forbidden:
		if e.bare && e.OwnerMessage == "" {
			return Verdict{
				CodeForbidden,
				"the provider refused access and does not say that the credential is the cause",
				true,
				protocol.RetryByRuntime,
			}
		}
		return Verdict{string(Forbidden), "the credential does not allow access", false, protocol.RefreshCredentials}
	case Challenge:
		return Verdict{
			key + "_challenge",
			"the site wants to see a person before it answers; open it here once and do what it asks",
			false,
			protocol.ManualActionRequired,
		}
	case NotFound, Gone:
		return Verdict{string(e.Class), "the provider no longer offers this", false, protocol.RetryOnConnectorUpgrade}
	case Malformed, CursorRejected:
		return Verdict{
			string(Malformed),
			"the provider answered in a form that this connector does not know",
			false,
			protocol.RetryOnConnectorUpgrade,
		}
	default:
		return Verdict{
			string(unclassified),
			"the connector failed in a way that it does not explain",
			true,
			protocol.UnknownRecovery,
		}
	}
}

var (
	// ErrNotInteractive means that no owner can be asked in this run.
	ErrNotInteractive = errors.New("this run has no interactive binding")
	// ErrNotAnswered means that the owner declined or let the question expire.
	ErrNotAnswered = errors.New("the owner did not answer")
)
