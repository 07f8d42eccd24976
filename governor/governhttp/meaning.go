package governhttp

import (
	"errors"
	"fmt"
	"net/http"

	"pdpp/governor"
)

// Meaning is the kind that an answer has by its status and headers alone.
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

// judge asks the connector what an answer means. Its error decides by a method
// Kind() governor.Kind, else the answer's own meaning does; but an answer that
// the connector calls an error is never a success, since an error must not make
// us faster.
func (c *Client) judge(r *Response) (governor.Outcome, error) {
	kind, err := Meaning(r), error(nil)
	if c.opt.Classify != nil && !redirects(r) {
		err = c.opt.Classify(r)
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

// failureKind is the kind of an attempt without a usable answer. A body that is
// too large and a redirect elsewhere would be the same next time.
func failureKind(err error) governor.Kind {
	var e *Error
	if errors.As(err, &e) && (e.Kind == TooLarge || e.Kind == Redirected || e.Kind == Unusable) {
		return governor.Rejected
	}
	return governor.Failed
}
