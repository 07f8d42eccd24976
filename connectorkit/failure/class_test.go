package failure

import (
	"errors"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// TestGivenUpRequestsAreClassified keeps the author's class where there is one.
func TestGivenUpRequestsAreClassified(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  *governhttp.Stopped
		want Class
		stop governor.StopReason
		wait time.Duration
	}{
		"author's class": {&governhttp.Stopped{Kind: governor.Throttled, Attempts: 4,
			Err: &Error{Class: Unavailable, Status: 503}}, Unavailable, "", 0},
		"told by the author": {&governhttp.Stopped{Kind: governor.Throttled, Attempts: 1, RetryAfter: time.Hour,
			Err: &Error{Class: RateLimited, RetryAfter: time.Minute}}, RateLimited, "", time.Hour},
		"spent quota": {&governhttp.Stopped{RetryAfter: time.Hour}, RateLimited, "", time.Hour},
		"another transport": {&governhttp.Stopped{Kind: governor.Throttled, Attempts: 4, Err: errors.New("NO [LIMIT]")},
			RateLimited, "", 0},
		"dead transport": {&governhttp.Stopped{Kind: governor.Failed, Attempts: 4, Err: errors.New("BYE")},
			Unavailable, "", 0},
		"broken network": {&governhttp.Stopped{Kind: governor.Failed, Attempts: 4,
			Err: &governhttp.Error{Kind: governhttp.Network}}, Unavailable, "", 0},
		"open circuit": {&governhttp.Stopped{Reason: governor.CircuitOpen, RetryAfter: time.Minute}, Unavailable,
			governor.CircuitOpen, time.Minute},
		"no retries": {&governhttp.Stopped{Kind: governor.Throttled, Attempts: 1, Reason: governor.RetriesExhausted,
			Err: &Error{Class: RateLimited, Status: 429}}, RateLimited, governor.RetriesExhausted, 0},
	} {
		got := ClassifyError(c.err)
		if got.Class != c.want || got.Stopped != c.stop || got.RetryAfter != c.wait {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestKindOfAFailure checks what each class means for the pace.
func TestKindOfAFailure(t *testing.T) {
	t.Parallel()
	for kind, failures := range map[governor.Kind][]Error{
		governor.Throttled: {{Class: RateLimited}, {Class: RateLimited, Status: 403}, {Class: Unavailable, Status: 503}},
		governor.Failed:    {{Class: Unavailable}, {Class: Unavailable, Status: 500}},
		governor.Rejected: {{Class: Unauthorized}, {Class: Forbidden, Status: 403}, {Class: NotFound}, {Class: Gone},
			{Class: Malformed}, {Class: CursorRejected}},
	} {
		for _, e := range failures {
			if e.Kind() != kind {
				t.Errorf("%s with status %d is of kind %d, want %d", e.Class, e.Status, e.Kind(), kind)
			}
		}
	}
}

// TestForbiddenOrLimited reads the two meanings of a 403.
func TestForbiddenOrLimited(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer governhttp.Response
		want   Class
	}{
		"plain":       {governhttp.Response{Status: 403}, Forbidden},
		"with a wait": {governhttp.Response{Status: 403, HasRetryAfter: true, RetryAfter: time.Minute}, RateLimited},
		"spent quota": {governhttp.Response{Status: 403, Quota: governor.Quota{Known: true, Reset: time.Hour}}, RateLimited},
		"quota left":  {governhttp.Response{Status: 403, Quota: governor.Quota{Known: true, Remaining: 5}}, Forbidden},
		"overloaded":  {governhttp.Response{Status: 503, HasRetryAfter: true}, Unavailable},
	} {
		var e *Error
		if err := ByStatus(
			&c.answer,
		); !errors.As(err, &e) || e.Class != c.want || e.HasRetryAfter != c.answer.HasRetryAfter ||
			e.RetryAfter != c.answer.RetryAfter {
			t.Errorf("%s: %+v, want %s", name, e, c.want)
		}
	}
}
