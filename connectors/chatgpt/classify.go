package chatgpt

import (
	"bytes"
	"errors"
	"mime"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

var (
	errHTML  = errors.New("the answer is a web page")
	errBody  = errors.New("the answer is not JSON")
	errLeads = errors.New("the answer leads to the sign-in")
)

// classify handles what the site does in its own way and leaves the rest to the meaning of
// the status.
func classify(r *governhttp.Response) error {
	switch {
	case walled(r):
		return failed(connectorkit.Challenge, r, nil)
	case r.Status == http.StatusOK && isHTML(r):
		return failed(connectorkit.Malformed, r, errHTML)
	case r.Status == http.StatusOK && !jsontext.Value(r.Body).IsValid(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)):
		return failed(connectorkit.Malformed, r, errBody)
	case r.Status >= 300 && r.Status < 400:
		return failed(connectorkit.Unauthorized, r, errLeads)
	case r.Status == http.StatusNotFound && gone(r.Body):
		return failed(connectorkit.Gone, r, nil)
	}
	return connectorkit.ByStatus(r)
}

// walled recognizes the check against robots in front of the site, which answers in the
// site's place with a page.
func walled(r *governhttp.Response) bool {
	if r.Header.Get("Cf-Mitigated") != "" {
		return true
	}
	return isHTML(r) && (r.Status == http.StatusForbidden || bytes.Contains(r.Body, []byte("_cf_chl_opt")))
}

func isHTML(r *governhttp.Response) bool {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return kind == "text/html"
}

// gone reads the body of a 404: a conversation that is not there any more is no error.
func gone(body []byte) bool {
	var said struct {
		Detail jsontext.Value `json:"detail"`
	}
	var detail struct {
		Code string `json:"code"`
	}
	return decode(body, &said) == nil && said.Detail.Kind() == '{' && decode(said.Detail, &detail) == nil &&
		(detail.Code == "conversation_not_found" || detail.Code == "conversation_deleted")
}

func failed(class connectorkit.Class, r *governhttp.Response, err error) error {
	return &connectorkit.Error{Class: class, Status: r.Status, RetryAfter: r.RetryAfter, HasRetryAfter: r.HasRetryAfter, Err: err}
}
