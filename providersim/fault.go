package providersim

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Kind names one way in which a provider misbehaves.
type Kind string

const (
	// Throttle answers 429 (or Fault.Status) with the chosen Retry-After.
	Throttle Kind = "throttle"
	// Bucket answers 429 whenever a token bucket of Rate and Burst is empty.
	// Its Count counts the requests that the bucket judged.
	Bucket Kind = "bucket"
	// Crowd answers 429 to a request that makes more than Items in flight.
	Crowd Kind = "crowd"
	// Unavailable answers 503, with a Retry-After when one is chosen.
	Unavailable Kind = "unavailable"
	// ServerError answers 500.
	ServerError Kind = "server_error"
	// ExpiredToken answers 401 as if the access token had run out.
	ExpiredToken Kind = "expired_token"
	// HTML answers 200 with a sign-in page.
	HTML Kind = "html"
	// EmptyBody answers 200 with the usual content type and no byte.
	EmptyBody Kind = "empty_body"
	// TruncatedJSON sends the first half of the answer as a complete message.
	TruncatedJSON Kind = "truncated_json"
	// WrongContentType sends the right body labelled text/plain.
	WrongContentType Kind = "wrong_content_type"
	// SlowDrip sends ChunkBytes at a time with DelayMS between chunks.
	SlowDrip Kind = "slow_drip"
	// Reset breaks the connection after half of the body.
	Reset Kind = "reset"
	// WrongType changes the JSON type of Field in the first item of a list.
	WrongType Kind = "wrong_type"
	// MissingField removes Field from the first item of a list.
	MissingField Kind = "missing_field"
	// RepeatCursor answers a page that is not the last with its own cursor as
	// the next one, so that the same page comes again.
	RepeatCursor Kind = "repeat_cursor"
	// SelfCursor answers every page, the last included, with its own cursor
	// as the next one and claims that more follows.
	SelfCursor Kind = "self_cursor"
	// ShortPages caps a page at Items items whatever the limit asks.
	ShortPages Kind = "short_pages"
	// EmptyPages answers pages without items although more follows; the
	// cursor still changes from page to page.
	EmptyPages Kind = "empty_pages"
	// Latency delays the answer by DelayMS and does not change it otherwise.
	Latency Kind = "latency"
	// Drift changes the form of good answers, as Fault.Drifted describes.
	Drift Kind = "drift"
)

var allFaultKinds = []Kind{
	Throttle, Bucket, Crowd, Unavailable, ServerError, ExpiredToken, HTML, EmptyBody, TruncatedJSON, WrongContentType,
	SlowDrip, Reset, WrongType, MissingField, RepeatCursor, SelfCursor, ShortPages, EmptyPages, Latency, Drift,
}

// RetryForm selects how a refusal announces its wait.
type RetryForm string

const (
	// RetryNone sends no Retry-After. The zero value means the same.
	RetryNone RetryForm = "none"
	// RetrySeconds sends a whole number of seconds.
	RetrySeconds RetryForm = "seconds"
	// RetryDate sends an HTTP-date, rounded up to the next whole second.
	RetryDate RetryForm = "date"
)

// Fault is one installed misbehaviour. Faults combine in the order they were
// added; the first that answers in the provider's place ends the search, except
// that latency always adds up.
type Fault struct {
	// ID is assigned by [Gate.Add]; it is ignored on input.
	ID   int  `json:"id,omitempty"`
	Kind Kind `json:"kind"`
	// Path is a prefix of the request path; empty matches every request.
	Path string `json:"path,omitempty"`
	// Exact makes Path match as a whole, which separates a list from its details.
	Exact bool `json:"exact,omitempty"`
	// Skip is how many matching requests pass untouched first.
	Skip int `json:"skip,omitempty"`
	// Count is how many matching requests are affected; zero means all until
	// the fault is removed.
	Count int `json:"count,omitempty"`

	// Status replaces 429 in a Throttle.
	Status int `json:"status,omitempty"`
	// RetryAfter and Seconds shape Throttle, Crowd and Unavailable. A Bucket computes
	// its own seconds.
	RetryAfter RetryForm `json:"retry_after,omitempty"`
	Seconds    int       `json:"seconds,omitempty"`

	// Rate is the refill of a Bucket in requests per second, Burst its size.
	Rate  float64 `json:"rate,omitempty"`
	Burst int     `json:"burst,omitempty"`

	// Items is the page size of ShortPages, and how many a Crowd bears.
	Items int `json:"items,omitempty"`
	// Field is what WrongType and MissingField damage; empty means "id".
	Field string `json:"field,omitempty"`
	// DelayMS is the wait of Latency, and of SlowDrip between chunks (10 when
	// zero); ChunkBytes is the size of those chunks (64 when zero).
	DelayMS    int `json:"delay_ms,omitempty"`
	ChunkBytes int `json:"chunk_bytes,omitempty"`
	// Drifted is what a Drift changes.
	Drifted *Drifted `json:"drifted,omitempty"`
}

func (f Fault) validateFault() error {
	switch {
	case !slices.Contains(allFaultKinds, f.Kind):
		return fmt.Errorf("unknown fault kind %q", f.Kind)
	case f.Exact && f.Path == "":
		return fmt.Errorf("fault %s: exact needs a path", f.Kind)
	case min(f.Skip, f.Count, f.Seconds, f.Burst, f.Items, f.DelayMS, f.ChunkBytes) < 0:
		return fmt.Errorf("fault %s: numbers must not be negative", f.Kind)
	case f.Status != 0 && (f.Status < 400 || f.Status > 599):
		return fmt.Errorf("fault %s: status %d is not an error status", f.Kind, f.Status)
	case !slices.Contains([]RetryForm{"", RetryNone, RetrySeconds, RetryDate}, f.RetryAfter):
		return fmt.Errorf("fault %s: unknown retry_after %q", f.Kind, f.RetryAfter)
	case f.Kind == Bucket && (!(f.Rate > 0) || f.Burst < 1):
		return fmt.Errorf("fault %s: needs a positive rate and burst", f.Kind)
	case f.Kind == ShortPages && f.Items < 1:
		return fmt.Errorf("fault %s: needs items of at least 1", f.Kind)
	case (f.Kind == Drift) != (f.Drifted != nil):
		return fmt.Errorf("fault %s: drifted belongs to a drift", f.Kind)
	case f.Kind == Latency && f.DelayMS == 0:
		return fmt.Errorf("fault %s: needs delay_ms", f.Kind)
	}
	return nil
}

func (f Fault) appliesTo(r *http.Request) bool {
	if f.Exact {
		return r.URL.Path == f.Path
	}
	return f.Drifted.appliesTo(r) && strings.HasPrefix(r.URL.Path, f.Path)
}
