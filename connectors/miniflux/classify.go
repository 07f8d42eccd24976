package miniflux

import (
	"errors"
	"mime"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

var (
	errForm      = errors.New("the answer is not that of a Miniflux server")
	errTruncated = errors.New("the answer ends early")
)

// classify says what an answer means. Answers that end early are worth a repetition.
func classify(r *governhttp.Response) error {
	if r.Status != http.StatusOK {
		return connectorkit.ByStatus(r)
	}
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case kind != "application/json", len(r.Body) == 0:
		return connectorkit.Fail(connectorkit.Malformed, errForm)
	case !jsontext.Value(r.Body).IsValid(jsontext.AllowInvalidUTF8(true)):
		return connectorkit.Fail(connectorkit.Unavailable, errTruncated)
	}
	return nil
}
