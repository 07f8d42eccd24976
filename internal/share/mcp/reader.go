package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/pdpp-go/pdpp/internal/web/reply"
)

// largestAnswer bounds what is read of one answer of /v1, which is itself bounded to a few megabytes.
const largestAnswer = 16 << 20

// Reader reads the routes under /v1 on behalf of one caller. It is safe for concurrent use.
type Reader struct {
	// Base is the address of the server, without a slash at its end.
	Base string
	// Token is the caller's bearer token. A Reader without one takes the token from the request that is being answered.
	Token string
	// Transport sends the requests: http.DefaultTransport for another machine, or HandlerTransport for this process.
	Transport http.RoundTripper
}

// readError is an answer of /v1 that is not a success.
type readError struct {
	status  int
	code    string
	message string
	next    string
}

// toolNames replaces the addresses in advice of /v1 with the tools that read them.
var toolNames = strings.NewReplacer("GET /v1/streams lists", "list_streams lists", "GET /v1/streams", "list_streams",
	"GET /v1/schema", "describe_stream", "Write q=words.", "Use the argument words.")

// Error returns what happened and what to do.
func (e *readError) Error() string {
	return strings.TrimSpace(e.message + " " + toolNames.Replace(e.next) + " (" + e.code + ")")
}

// Get reads one address into a value. An error that is not a *readError carries nothing that the caller sent.
func (r Reader) Get(ctx context.Context, path string, query url.Values, into any) error {
	address := r.Base + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return errors.New("the request is not one that can be sent")
	}
	q.Header.Set("Accept", "application/json")
	if r.Token != "" {
		q.Header.Set("Authorization", "Bearer "+r.Token)
	} else if by, ok := ctx.Value(callerKey{}).(*http.Request); ok {
		q.Header.Set("Authorization", by.Header.Get("Authorization"))
		q.RemoteAddr = by.RemoteAddr
		q = q.WithContext(reply.WithRequestID(ctx, reply.RequestID(by.Context())))
	}
	answer, err := r.Transport.RoundTrip(q)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &readError{code: "unreachable", message: "The PDPP server does not answer.",
			next: "Start it with pdpp serve, or check its address."}
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, largestAnswer))
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	if answer.StatusCode != http.StatusOK {
		return refusalOf(answer.StatusCode, body)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return errors.New("the server's answer is not the JSON of this version")
	}
	return nil
}

// refusalOf returns the error of an answer that is not a success.
func refusalOf(status int, body []byte) error {
	var e reply.Envelope
	if json.Unmarshal(body, &e) != nil || e.Error.Message == "" {
		return &readError{status: status, code: fmt.Sprint("status_", status),
			message: "The server refused the request.", next: "Check its address and the token."}
	}
	return &readError{status: status, code: e.Error.Code, message: e.Error.Message, next: e.Error.Next}
}

// HandlerTransport answers requests by a handler of this process.
func HandlerTransport(h http.Handler) http.RoundTripper { return handlerTransport{h} }

type handlerTransport struct{ handler http.Handler }

// RoundTrip implements http.RoundTripper.
func (t handlerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	w := &answerBuffer{header: http.Header{}, status: http.StatusOK}
	t.handler.ServeHTTP(w, r)
	return &http.Response{StatusCode: w.status, Header: w.header, Body: io.NopCloser(&w.body), Request: r}, nil
}

// answerBuffer holds an answer of a handler.
type answerBuffer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (b *answerBuffer) Header() http.Header { return b.header }

func (b *answerBuffer) Write(p []byte) (int, error) { return b.body.Write(p) }

func (b *answerBuffer) WriteHeader(status int) { b.status = status }
