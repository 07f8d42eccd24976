package providerauth

import (
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
)

// Why a sign-in has ended, as it is recorded with the credential.
const (
	ReasonWithdrawn   = "consent_withdrawn"       // the provider refuses the refresh token
	ReasonInterrupted = "refresh_interrupted"     // so it does after an answer was lost
	ReasonFailing     = "refresh_failed_for_days" // no fresh token for four days
	ReasonExpired     = "token_expired"           // and it cannot be refreshed
)

// endedReasons explain to the owner why a sign-in ended.
var endedReasons = map[string]string{
	ReasonWithdrawn: "The provider does not accept this sign-in any more: it was withdrawn there, or has run out.",
	ReasonInterrupted: "This server was stopped in the moment in which the provider exchanged the key, and the new key " +
		"was lost.",
	ReasonFailing: "The provider has given no fresh key for four days.",
	ReasonExpired: "The sign-in has run out, and this provider does not let it be extended.",
}

// Words explains to the owner why a sign-in ended. It returns "" for a reason of another package.
func Words(reason string) string { return endedReasons[reason] }

// Rejected means that nothing but another sign-in by the owner helps.
type Rejected struct{ Reason string }

func (e *Rejected) Error() string {
	if text := Words(e.Reason); text != "" {
		return text
	}
	return "The provider does not accept the sign-in."
}

// NextStep is what the owner does about it.
func (*Rejected) NextStep() string { return "Sign in at the provider again." }

// Trouble means that the provider could not be asked for a fresh token, and is not asked again
// before Until.
type Trouble struct {
	Until time.Time
	err   error
}

func (e *Trouble) Error() string { return "The provider gave no fresh token." }

// NextStep is what the owner does about it.
func (*Trouble) NextStep() string { return "Wait: it is tried again by itself." }

func (e *Trouble) Unwrap() error { return e.err }

// answerError is an answer of a provider's endpoint that is not the wanted one. The body is not
// in it: it may hold anything.
type answerError struct {
	Status int
	Code   string // OAuth's, if it is one of its own words
}

func (e *answerError) Error() string {
	text := "the provider answered " + http.StatusText(e.Status)
	if e.Code != "" {
		text += " (" + e.Code + ")"
	}
	return text
}

// Codes of faults.
const (
	CodeNoApp    = "provider_app_missing" // api.CodeNoProviderApp
	CodeNotBegun = "sign_in_not_begun"
	CodeDeclined = "sign_in_declined"
	CodeNoWay    = "sign_in_way_missing"
	CodeRefused  = "sign_in_refused"
	CodeNoAnswer = "provider_unreachable"
	CodeScope    = "sign_in_scope_unknown"
)

func refusal(status int, code, message, next string) *usererr.Error {
	return &usererr.Error{Status: status, Code: code, Message: message, Next: next}
}
