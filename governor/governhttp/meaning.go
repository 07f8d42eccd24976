package governhttp

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/pdpp-go/pdpp/governor"
)

// Meaning classifies a response by its status and headers.
func Meaning(r *Response) governor.Kind {
	switch {
	case r.Status >= 200 && r.Status < 300:
		return governor.Success
	case r.Status == http.StatusTooManyRequests, r.Status == http.StatusServiceUnavailable:
		return governor.Throttled
	case r.Status == http.StatusForbidden && (r.HasRetryAfter || r.Quota.Known && r.Quota.Remaining == 0):
		return governor.Throttled
	case r.Status == http.StatusRequestTimeout, r.Status >= 500:
		return governor.Failed
	default:
		return governor.Rejected
	}
}

// classify returns the outcome of a response. The connector's error decides by its method Kind() governor.Kind,
// otherwise Meaning does. A response that the connector considers an error is never a success, because an error
// must not make requests faster.
func (c *Client) classify(r *Response, own func(*Response) error) (governor.Outcome, error) {
	kind, err := Meaning(r), error(nil)
	if own == nil {
		own = c.opt.Classify
	}
	if own != nil && !isRedirect(r) {
		err = own(r)
		kind = declaredKind(err, kind)
	} else if kind == governor.Throttled || kind == governor.Failed {
		err = fmt.Errorf("the provider answered with status %d", r.Status)
	}
	return governor.Outcome{Kind: kind, RetryAfter: r.RetryAfter, HasRetryAfter: r.HasRetryAfter, Quota: r.Quota}, err
}

func declaredKind(err error, byStatus governor.Kind) governor.Kind {
	var own interface{ Kind() governor.Kind }
	switch {
	case err == nil:
		return governor.Success
	case errors.As(err, &own):
		return own.Kind()
	case byStatus == governor.Success:
		return governor.Rejected
	default:
		return byStatus
	}
}

// failureKind classifies an attempt without a usable response. A body that is too large and a redirect to another
// host would be the same next time, so they are rejected.
func failureKind(err error) governor.Kind {
	var e *Error
	if errors.As(err, &e) && (e.Kind == TooLarge || e.Kind == Redirected || e.Kind == Unusable) {
		return governor.Rejected
	}
	return governor.Failed
}
