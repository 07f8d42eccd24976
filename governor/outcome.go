package governor

import "time"

// Kind is what an answer says about the provider. A transport names it; nothing
// here knows whether the request was HTTP, an IMAP command or a page in a browser.
type Kind uint8

const (
	// Rejected is an answer that is final and no success: a missing thing, a
	// refused credential. The provider works and the pace is not its reason.
	Rejected Kind = iota
	// Success is an answer with what was asked for. Only this may speed up.
	Success
	// Throttled is a refusal because of the pace.
	Throttled
	// Failed is no usable answer: a broken connection, a timeout, a server error.
	// It is worth another try and says nothing about the pace.
	Failed
)

// Outcome is what became of one request.
type Outcome struct {
	Kind Kind
	// Sent is when the request left. What left before the last refusal was sent
	// at a pace that is already given up, so it teaches nothing.
	Sent time.Time
	// Unreached says that nothing of the request got through: there was no connection.
	// Such a request is worth few attempts.
	Unreached bool
	// Cut says that a connection was there and broke before an answer came. Some
	// providers refuse in no other way: what breaks at a pace and not at a slower one
	// is a limit.
	Cut bool
	// RetryAfter is how long the provider asks to wait; it counts when HasRetryAfter.
	RetryAfter    time.Duration
	HasRetryAfter bool
	// Quota is what the provider says is left; its zero value says nothing.
	Quota Quota
}

// Quota is an allowance that the provider announces.
type Quota struct {
	Known     bool
	Limit     int           // of the whole window; zero when it is not said
	Remaining int           // requests left
	Reset     time.Duration // until the allowance is full again, from the answer on
}
