package governor

import "time"

// Kind classifies the response to a request. The transport decides it; the governor does not know whether the
// request was HTTP, an IMAP command or a page in a browser.
type Kind uint8

const (
	// Rejected is a final response other than success, for example a missing object or an invalid credential. The
	// provider works, and the pace is not the cause.
	Rejected Kind = iota
	// Success is a response with the requested content. Only a success shortens the interval.
	Success
	// Throttled is a refusal because of the request rate.
	Throttled
	// Failed means that there was no usable response: a broken connection, a timeout, a server error. The request
	// is worth a retry. It carries no information about the pace.
	Failed
)

// Outcome describes the result of one request.
type Outcome struct {
	Kind Kind
	// Sent is when the request was sent. Responses to requests sent before the last refusal are ignored, because
	// the pace has changed since.
	Sent time.Time
	// Unreached means that no connection could be made. Such a request gets fewer attempts.
	Unreached bool
	// Cut means that an established connection broke before the response. Some providers enforce their limit this
	// way: connections that break only at a high pace show a limit.
	Cut bool
	// RetryAfter is how long the provider asks to wait. It counts only if HasRetryAfter is true.
	RetryAfter    time.Duration
	HasRetryAfter bool
	// Quota is the quota that the response announced. Its zero value means none.
	Quota Quota
}

// Quota is a quota that the provider announced.
type Quota struct {
	Known     bool
	Limit     int           // of the whole window; zero if unknown
	Remaining int           // requests left
	Reset     time.Duration // time from the response until the quota is full again
}
