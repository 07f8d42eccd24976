package wire

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
)

// Error is the reason why a request failed. It contains only codes and messages of this package. It
// never includes text from the server or the transport, so it cannot leak a token, an address or a
// record.
type Error struct {
	Code       string // the server's code, or one of the Code constants
	Status     int    // 0: there was no answer
	Message    string
	RetryAfter time.Duration // 0: the server named none
	// Ours reports whether the answer has the server's error envelope, with a code and a request id. Only
	// such an answer is a verdict on the request.
	Ours bool

	ended error // the context's error when it ended the request
}

// Codes of failures that the server did not name.
const (
	CodeTimeout         = "timeout"
	CodeCanceled        = "canceled"
	CodeNetwork         = "network"
	CodeInvalidResponse = "invalid_response"
	CodeInvalidRequest  = "invalid_request"
)

func (e *Error) Error() string {
	if e.Status == 0 {
		return fmt.Sprintf("%s (%s)", e.Message, e.Code)
	}
	return fmt.Sprintf("%s (%d %s)", e.Message, e.Status, e.Code)
}

// Unwrap returns context.Canceled or context.DeadlineExceeded if that ended the request, else nil.
func (e *Error) Unwrap() error { return e.ended }

// transportError explains a request without an answer.
func transportError(ctx context.Context, err error) *Error {
	e := &Error{Code: CodeNetwork, Message: "the connection failed"}
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		e.Code, e.Message, e.ended = CodeCanceled, "the request was given up", context.Canceled
	case ctx.Err() != nil:
		e.Code, e.Message, e.ended = CodeTimeout, "the server did not answer in time", context.DeadlineExceeded
	case timedOut(err):
		e.Code, e.Message = CodeTimeout, "the server did not answer in time"
	case errors.As(err, &dns):
		e.Message = "the server's name was not found"
	case errors.As(err, &certificate), errors.As(err, &authority):
		e.Message = "the server's certificate is not trusted"
	case errors.Is(err, syscall.ECONNREFUSED):
		e.Message = "the server refused the connection"
	}
	return e
}

// timedOut looks at every layer of the error: an outer one need not know what an inner one does.
func timedOut(err error) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		if t, ok := err.(interface{ Timeout() bool }); ok && t.Timeout() {
			return true
		}
	}
	return false
}

// answerError explains an answer that is not a success. The token is only
// compared with: a code that repeats it is dropped.
func answerError(resp *http.Response, body []byte, token string, now time.Time) *Error {
	e := &Error{Status: resp.StatusCode}
	e.Code, e.Ours = errorCode(body)
	if e.Code == "" || token != "" && strings.Contains(e.Code, token) {
		e.Code, e.Ours = "http_"+strconv.Itoa(e.Status), false
	}
	switch {
	case e.Status < 400:
		e.Message = "the request was sent elsewhere"
	case e.Action() == Wait:
		e.Message = "the server could not take the request now"
		e.RetryAfter = retryAfter(resp.Header.Get("Retry-After"), now)
	case !e.Ours:
		e.Message = "somebody else answered in the server's place"
	default:
		e.Message = "the server refused the request"
	}
	return e
}

const longestCode = 64

// errorCode reads the code from an error's body, and whether it is the server's own
// envelope; anything that is not a plain word is none.
func errorCode(body []byte) (code string, ours bool) {
	var envelope struct {
		Error struct {
			Code      string `json:"code"`
			RequestID string `json:"request_id"`
		} `json:"error"`
	}
	if err := json.Unmarshal(body, &envelope); err != nil {
		return "", false
	}
	code = envelope.Error.Code
	if code == "" || len(code) > longestCode || strings.Trim(code, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		return "", false
	}
	return code, envelope.Error.RequestID != ""
}

// longestRetryAfter bounds what is believed of a server's wish.
const longestRetryAfter = 24 * time.Hour

// retryAfter reads a Retry-After header: seconds or a date. What it cannot read
// or what has passed is 0.
func retryAfter(header string, now time.Time) time.Duration {
	header = strings.TrimSpace(header)
	if seconds, err := strconv.ParseInt(header, 10, 64); err == nil {
		return time.Duration(min(max(seconds, 0), int64(longestRetryAfter/time.Second))) * time.Second
	}
	at, err := http.ParseTime(header)
	if err != nil {
		return 0
	}
	return min(max(at.Sub(now), 0), longestRetryAfter)
}
