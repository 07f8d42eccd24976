package connectorkit

import (
	"bytes"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"pdpp/governor/governhttp"
)

var (
	errNothing   = errors.New("the answer is empty")
	errNoJSON    = errors.New("the answer is not JSON")
	errTruncated = errors.New("the answer ends early")
)

// WholeJSON tells a good answer from one that only has the status of one: nil for a body that is
// one JSON object or list. What begins as one and does not end is worth a repetition; nothing at
// all, and the page of a proxy or a sign-in, is not.
func WholeJSON(r *governhttp.Response) error {
	body := bytes.TrimSpace(r.Body)
	switch {
	case len(body) == 0:
		return Fail(Malformed, errNothing)
	case body[0] != '{' && body[0] != '[':
		return Fail(Malformed, errNoJSON)
	case !jsontext.Value(body).IsValid():
		return Fail(Unavailable, errTruncated)
	}
	return nil
}
