package failure

import (
	"bytes"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/governor/governhttp"
)

var (
	errEmptyAnswer   = errors.New("the answer is empty")
	errAnswerNotJSON = errors.New("the answer is not JSON")
	errTruncated     = errors.New("the answer ends early")
)

// WholeJSON returns nil if the body is one JSON object or list. It returns a retryable error for a truncated
// body, and a final one for an empty body or a page of a proxy or a sign-in.
func WholeJSON(r *governhttp.Response) error {
	body := bytes.TrimSpace(r.Body)
	switch {
	case len(body) == 0:
		return Fail(Malformed, errEmptyAnswer)
	case body[0] != '{' && body[0] != '[':
		return Fail(Malformed, errAnswerNotJSON)
	case !jsontext.Value(body).IsValid():
		return Fail(Unavailable, errTruncated)
	}
	return nil
}
