package rest

import (
	"bytes"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest/internal/rawjson"
	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

var (
	errNoList       = errors.New("the answer lacks the requested list")
	errNoAccount    = errors.New("the answer does not name the account")
	errRepeatedPage = errors.New("the next page is one that was already read")
	errForeignPage  = errors.New("the next page is not below the provider's root")
	errBaseURL      = errors.New("the address of the API must be an absolute http or https address")
)

// ErrorRule classifies a refusal. It applies if all its conditions hold.
type ErrorRule struct {
	Status int // zero means any status but 2xx; AnyStatus includes those
	// Contains lists texts that the body contains, in any case.
	Contains []string
	// Member is a path of names in the body, and Values are the texts that it may have; none means any text. A * in the
	// path means every element of a list.
	Member string
	Values []string

	Class connectorkit.Class
	// Message is a fixed text for the owner: what happened, and what to do.
	Message string
}

// AnyStatus makes an ErrorRule apply to every status, for a provider that refuses with 200.
const AnyStatus = -1

func (e *ErrorRule) applies(r *governhttp.Response) bool {
	good := r.Status >= 200 && r.Status < 300
	switch {
	case e.Status > 0 && e.Status != r.Status, e.Status == 0 && good,
		// A refusal that asks to wait is a limit, whatever else it means.
		r.Status == http.StatusForbidden && e.Class != connectorkit.RateLimited &&
			governhttp.Meaning(r) == governor.Throttled:
		return false
	}
	if len(e.Contains) > 0 {
		body := bytes.ToLower(r.Body)
		for _, text := range e.Contains {
			if !bytes.Contains(body, []byte(strings.ToLower(text))) {
				return false
			}
		}
	}
	if e.Member == "" {
		return true
	}
	if !jsontext.Value(r.Body).IsValid() {
		return false
	}
	return slices.ContainsFunc(rawjson.ValuesAt(r.Body, rawjson.SplitPath(e.Member)), func(v jsontext.Value) bool {
		text, ok := rawjson.TextOf(v)
		return ok && (len(e.Values) == 0 || slices.Contains(e.Values, text))
	})
}

// Classify returns the error that a response means to the source, or nil for a good one. The engine calls it for every
// response.
func (src *Source) Classify(r *governhttp.Response) error {
	if src.Inspect != nil {
		if err := src.Inspect(r); err != nil {
			return err
		}
	}
	if r.Status == http.StatusNotModified {
		return nil // only a conditional request gets it
	}
	good := r.Status >= 200 && r.Status < 300
	if good {
		if err := connectorkit.WholeJSON(r); err != nil {
			return err
		}
	}
	for i := range src.Errors {
		if rule := &src.Errors[i]; rule.applies(r) {
			e := &connectorkit.Error{Class: rule.Class, Status: r.Status, OwnerMessage: rule.Message,
				RetryAfter: r.RetryAfter, HasRetryAfter: r.HasRetryAfter}
			src.completeWait(r, e)
			return e
		}
	}
	if good {
		return nil
	}
	err := connectorkit.ByStatus(r)
	var e *connectorkit.Error
	if errors.As(err, &e) {
		src.completeWait(r, e)
	}
	return err
}

// completeWait adds the wait of a limit that names no time: the rest of the window by the provider's clock, or the time
// until the quota that the headers report as used up.
func (src *Source) completeWait(r *governhttp.Response, e *connectorkit.Error) {
	if e.Class != connectorkit.RateLimited || e.HasRetryAfter || src.LimitWindow <= 0 {
		return
	}
	now := clockOf(r)
	e.RetryAfter, e.HasRetryAfter = now.Truncate(src.LimitWindow).Add(src.LimitWindow).Sub(now), true
	if r.Quota.Known && r.Quota.Remaining == 0 && r.Quota.Reset > e.RetryAfter {
		e.RetryAfter = r.Quota.Reset
	}
	r.RetryAfter, r.HasRetryAfter = e.RetryAfter, true
}

// clockOf returns the provider's time of an answer, which a wrong clock here does not mislead.
func clockOf(r *governhttp.Response) time.Time {
	at, err := http.ParseTime(r.Header.Get("Date"))
	if err != nil {
		at = time.Now()
	}
	return at
}

// IfUnserved reports whether the provider does not serve an object or a list, without a reason that the owner can
// change. The others can be read.
func IfUnserved(err error) bool {
	var e *connectorkit.Error
	return errors.As(err, &e) && e.OwnerMessage == "" &&
		(e.Class == connectorkit.Forbidden || e.Class == connectorkit.NotFound)
}

// IfForbidden reports whether the provider refuses access, for whatever reason.
func IfForbidden(err error) bool {
	var e *connectorkit.Error
	return errors.As(err, &e) && e.Class == connectorkit.Forbidden
}

func malformed(err error) error { return connectorkit.Fail(connectorkit.Malformed, err) }
