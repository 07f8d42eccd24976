package api

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
	"time"
)

// Client is an owner who speaks to a server. Whatever prints it prints no token.
// Every error is an *Error.
type Client struct {
	Base  string // address of the server, with a path of its own or without
	Token string `json:"-"`
	// HTTP carries the requests; nil is http.DefaultClient. Redirects are not followed:
	// the token is for the named server alone.
	HTTP *http.Client `json:"-"`
}

var _ Owner = (*Client)(nil)

const (
	// answerTime is how long an answer may take as a whole. An export has it for every
	// piece of its own.
	answerTime = 60 * time.Second
	// longestAnswer is far above what a page holds, so that only a server which is none
	// of ours crosses it.
	longestAnswer = 256 << 20
	longestError  = 64 << 10
)

// Format prints the server, whatever the verb.
func (c Client) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "owner at %q", c.host()) }

func (c *Client) host() string {
	u, err := url.Parse(c.Base)
	if err != nil {
		return ""
	}
	return u.Host
}

// request is one question to the server.
type request struct {
	method string
	path   []string // segments; each is one, whatever is in it
	query  url.Values
	body   any // nil means none
	// content is a body that is sent as it is, of so many bytes; zero means that nobody knows.
	content io.Reader
	bytes   int64
}

// get asks for something.
func (c *Client) get(ctx context.Context, into any, query url.Values, path ...string) error {
	return c.call(ctx, request{method: http.MethodGet, path: path, query: query}, into)
}

// send tells something; the answer is decoded unless into is nil.
func (c *Client) send(ctx context.Context, method string, body, into any, path ...string) error {
	return c.call(ctx, request{method: method, path: path, body: body}, into)
}

func (c *Client) call(ctx context.Context, q request, into any) error {
	limited, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	resp, err := c.do(limited, q)
	if err != nil {
		return c.transportError(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return c.answerError(resp)
	}
	if into == nil {
		return nil
	}
	return c.decode(ctx, resp, into)
}

// decode reads an answer.
func (c *Client) decode(ctx context.Context, resp *http.Response, into any) error {
	got, err := io.ReadAll(io.LimitReader(resp.Body, longestAnswer+1))
	switch {
	case err != nil:
		return c.transportError(ctx, err)
	case len(got) > longestAnswer, json.Unmarshal(got, into) != nil:
		return c.notOurs(resp.StatusCode)
	}
	return nil
}

// do sends the request. Its error is an *Error when nothing could be sent.
func (c *Client) do(ctx context.Context, q request) (*http.Response, error) {
	address, err := c.address(q.path)
	if err != nil {
		return nil, err
	}
	address.RawQuery = q.query.Encode()
	content, kind := q.content, "application/octet-stream"
	if q.body != nil {
		encoded, err := json.Marshal(q.body)
		if err != nil {
			return nil, Invalid("", "That cannot be written as JSON.", "Look at the numbers in it.")
		}
		content, kind = bytes.NewReader(encoded), "application/json"
	}
	req, err := http.NewRequestWithContext(ctx, q.method, address.String(), content)
	if err != nil {
		return nil, badAddress()
	}
	req.Header.Set("Authorization", "Bearer "+c.Token)
	req.Header.Set("Accept", "application/json")
	if content != nil {
		req.Header.Set("Content-Type", kind)
	}
	if q.bytes > 0 {
		req.ContentLength = q.bytes
	}
	client := *http.DefaultClient
	if c.HTTP != nil {
		client = *c.HTTP
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return client.Do(req)
}

// address joins the server's address and the segments.
func (c *Client) address(path []string) (*url.URL, error) {
	u, err := url.Parse(c.Base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, badAddress()
	}
	escaped := make([]string, len(path))
	for i, segment := range path {
		switch segment {
		case "":
			return nil, NotFound("There is nothing without a name.", "Name what is meant.")
		case ".", "..": // names here, and not the way up
			escaped[i] = strings.ReplaceAll(segment, ".", "%2E")
		default:
			escaped[i] = url.PathEscape(segment)
		}
	}
	return u.JoinPath(escaped...), nil
}

func badAddress() *Error {
	return &Error{Status: http.StatusBadRequest, Code: CodeInvalid, Param: "server",
		Message: "The server's address is not a plain http or https address.", Next: "Give it as https://host or http://127.0.0.1:port."}
}

// asError gives the *Error in an error.
func asError(err error) (*Error, bool) {
	var known *Error
	ok := errors.As(err, &known)
	return known, ok
}
