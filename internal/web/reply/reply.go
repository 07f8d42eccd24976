// Package reply is how every surface answers programs: JSON, and for what is not a
// success the error envelope with the request's id.
package reply

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
)

// Types of errors in the envelope.
const (
	TypeInvalidRequest = "invalid_request_error"
	TypeAuthentication = "authentication_error"
	TypePermission     = "permission_error"
	TypeRateLimit      = "rate_limit_error"
	TypeAPI            = "api_error"
)

// TypeOf returns the type of an error with a status.
func TypeOf(status int) string {
	switch {
	case status == http.StatusUnauthorized:
		return TypeAuthentication
	case status == http.StatusForbidden:
		return TypePermission
	case status == http.StatusTooManyRequests:
		return TypeRateLimit
	case status >= http.StatusInternalServerError:
		return TypeAPI
	default:
		return TypeInvalidRequest
	}
}

// Envelope is every answer that is not a success. The message and the next step are for people;
// programs read the code.
type Envelope struct {
	Error Problem `json:"error"`
}

// Problem is the error in an Envelope.
type Problem struct {
	Type string `json:"type" enum:"invalid_request_error,authentication_error,permission_error,rate_limit_error,api_error"`
	usererr.Error
	RequestID string `json:"request_id"`
}

// Error answers with the envelope. The message is shown to the caller.
func Error(w http.ResponseWriter, r *http.Request, status int, errorType, code, message string) {
	WriteFailure(w, r, errorType, &usererr.Error{Status: status, Code: code, Message: message})
}

// WriteFailure answers with the envelope of an error that has a status.
func WriteFailure(w http.ResponseWriter, r *http.Request, errorType string, f *usererr.Error) {
	JSON(w, f.Status, Envelope{Problem{Type: errorType, Error: *f, RequestID: RequestID(r.Context())}})
}

// JSON answers with a value that can always be encoded. Errors of a disconnected client are ignored.
func JSON(w http.ResponseWriter, status int, value any) {
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false) // records keep their bytes; the content type prevents HTML
	if err := e.Encode(value); err != nil {
		panic(err) // a mistake in this program; the server answers for it
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes())
}

// MaxBody is the most that a body of JSON may hold.
const MaxBody = 1 << 20

// Read decodes a JSON body strictly and with a size limit. If it cannot, it answers and returns false.
func Read(w http.ResponseWriter, r *http.Request, into any) bool {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		Error(w, r, http.StatusUnsupportedMediaType, TypeInvalidRequest, "unsupported_media_type",
			"Send the body as application/json.")
		return false
	}
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, MaxBody))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil {
		if _, end := d.Token(); end != io.EOF {
			err = cmp.Or(end, errors.New("more than one value"))
		}
	}
	if err == nil {
		return true
	}
	BadBody(w, r, err, "The body is not the JSON that this address takes.")
	return false
}

// BadBody answers for a body that could not be read: too large, too slow, or invalid as the message states.
func BadBody(w http.ResponseWriter, r *http.Request, err error, message string) {
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		Error(w, r, http.StatusRequestEntityTooLarge, TypeInvalidRequest, "body_too_large",
			"The body is larger than this address takes.")
	case errors.Is(err, os.ErrDeadlineExceeded):
		w.Header().Set("Connection", "close")
		Error(w, r, http.StatusRequestTimeout, TypeInvalidRequest, "request_timeout", "The body did not arrive in time.")
	default:
		Error(w, r, http.StatusBadRequest, TypeInvalidRequest, "invalid_request", message)
	}
}

type requestID struct{}

// RequestID names the request in its answer and in the log.
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestID{}).(string)
	return id
}

// WithRequestID names the request.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestID{}, id)
}

// Route is one address of a surface. Patterns are those of http.ServeMux, with a
// method; the OpenAPI document is held against them.
type Route struct {
	Pattern string
	Handle  http.HandlerFunc
	// Scope is what an owner token must be allowed to do; empty for routes that are not
	// the owner's.
	Scope Scope
	// Operation describes the route; that of a page is empty.
	Operation Operation
}
