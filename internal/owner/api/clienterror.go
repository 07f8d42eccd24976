package api

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
)

// transportError describes a request that got no complete response. It hides the transport's error text, which may
// name addresses. Only a context error stays available to errors.Is.
func (c *Client) transportError(ctx context.Context, err error) *Error {
	if known, ok := asError(err); ok {
		return known
	}
	e := &Error{Status: http.StatusServiceUnavailable, Code: CodeUnreachable, Err: errors.New("request without an answer"),
		Message: "The server at " + c.host() + " does not answer.",
		Next:    "Check that pdpp serve is running there and that the address is right."}
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	switch {
	case ctx.Err() != nil:
		e.Message, e.Next, e.Err = "The request was cancelled before there was an answer.", "Try again.", ctx.Err()
	case errors.As(err, &name):
		e.Message = "The name " + c.host() + " is not known here."
	case errors.As(err, &certificate):
		e.Message, e.Next = "The certificate of "+c.host()+" is not trusted here.",
			"Check the address, or have the certificate fixed."
	}
	return e
}

// answerError turns the server's refusal back into what the server meant.
func (c *Client) answerError(resp *http.Response) *Error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, longestError)) // a part of it is as good as none
	var envelope struct {
		Error Error `json:"error"`
	}
	if json.Unmarshal(body, &envelope) != nil || envelope.Error.Code == "" {
		return c.notOurs(resp.StatusCode)
	}
	e := &envelope.Error
	e.Status = resp.StatusCode
	for _, text := range []*string{&e.Code, &e.Message, &e.Next, &e.Param, &e.RunID, &e.ConnectionID} {
		*text = c.withoutToken(*text)
	}
	if e.Status == http.StatusUnauthorized && e.Next == "" {
		e.Next = "Sign in again with pdpp login."
	}
	return e
}

// withoutToken guards against a server, or something before it, that repeats what it was sent.
func (c *Client) withoutToken(text string) string {
	if c.Token == "" {
		return text
	}
	return strings.ReplaceAll(text, c.Token, "[token]")
}

// notOurs returns the error for a response that did not come from a PDPP server.
func (c *Client) notOurs(status int) *Error {
	if status < 400 {
		status = http.StatusBadGateway
	}
	return &Error{Status: status, Code: CodeUnreachable,
		Message: "What answers at " + c.host() + " is not a PDPP server, or a proxy is in front of it.",
		Next:    "Check the address."}
}
