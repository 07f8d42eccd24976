package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"
)

// Client is an owner who speaks to a server. Whatever prints it prints no token.
// Every error is an *Error. Operations without a method of its own go through the operation table.
type Client struct {
	Proxy `json:"-"`

	Base  string // address of the server, with a path of its own or without
	Token string `json:"-"`
	// HTTP sends the requests; nil means http.DefaultClient. The client does not follow redirects, because the token
	// is only for the configured server.
	HTTP *http.Client `json:"-"`
}

// NewClient returns the client of a server. A nil httpClient means http.DefaultClient.
func NewClient(base, token string, httpClient *http.Client) *Client {
	c := &Client{Base: base, Token: token, HTTP: httpClient}
	c.Invoke = c.invoke
	return c
}

const (
	// wholeAnswerTime is how long an answer may take as a whole. An export has it for every
	// piece of its own.
	wholeAnswerTime = 60 * time.Second
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
	// content is a body that is sent unchanged. bytes is its length; zero means unknown.
	content io.Reader
	bytes   int64
}

// invoke calls a method of the owner behind the server, by its row of the operation table.
func (c *Client) invoke(ctx context.Context, method string, arguments []any, results ...any) error {
	o := OperationOf(method)
	asked, err := o.request(arguments)
	if err != nil {
		return err
	}
	switch {
	case len(results) == 0:
		return c.call(ctx, asked, nil)
	case o.wrapped():
		answer := reflect.New(o.answer)
		err = c.call(ctx, asked, answer.Interface())
		o.takeAnswer(answer.Elem(), results)
	default:
		err = c.call(ctx, asked, results[0])
	}
	clearNulls(results)
	return err
}

// request returns the request for a call of the operation's method.
func (o *Operation) request(arguments []any) (request, error) {
	q := request{method: o.verb}
	for _, segment := range o.segments {
		if pathParameter.MatchString(segment) {
			segment, arguments = arguments[0].(string), arguments[1:]
		}
		q.path = append(q.path, segment)
	}
	if len(arguments) == 0 {
		return q, nil
	}
	last := reflect.ValueOf(arguments[len(arguments)-1])
	if o.Argument != "" {
		named := reflect.New(cmp.Or(o.query, o.body)).Elem()
		named.Field(0).Set(last)
		last = named
	}
	if o.query != nil {
		var err error
		q.query, err = writeQuery(last)
		if o.content {
			q.content, _ = last.FieldByName("Content").Interface().(io.Reader)
			q.bytes = last.FieldByName("Bytes").Int()
		}
		return q, err
	}
	q.body = last.Interface()
	return q, nil
}

// clearNulls removes the text "null" from the data of deleted records.
func clearNulls(results []any) {
	for _, result := range results {
		switch r := result.(type) {
		case *Record:
			if string(r.Data) == "null" {
				r.Data = nil
			}
		case *[]Record:
			for i := range *r {
				clearNulls([]any{&(*r)[i]})
			}
		case *RecordPage:
			clearNulls([]any{&r.Records})
		}
	}
}

// Get decodes the answer of a route that no method of Owner has. Its path has these segments.
func (c *Client) Get(ctx context.Context, path []string, query url.Values, into any) error {
	return c.call(ctx, request{method: http.MethodGet, path: path, query: query}, into)
}

func (c *Client) call(ctx context.Context, q request, into any) error {
	limited, cancel := context.WithTimeout(ctx, wholeAnswerTime)
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
	client := *cmp.Or(c.HTTP, http.DefaultClient)
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return client.Do(req)
}

// address joins the server's address and the segments.
func (c *Client) address(path []string) (*url.URL, error) {
	u, err := url.Parse(c.Base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" ||
		u.Fragment != "" {
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
		Message: "The server's address is not a plain http or https address.",
		Next:    "Give it as https://host or http://127.0.0.1:port."}
}

// asError returns the *Error that err wraps, and whether there is one.
func asError(err error) (*Error, bool) {
	var known *Error
	ok := errors.As(err, &known)
	return known, ok
}

// RunOptions are what a request for a run may ask for. The body may be left out.
type RunOptions struct {
	// AskAnyway asks the source although it announced a pause, for an owner who has read provider_wait.
	AskAnyway bool `json:"ask_anyway" required:"false"`
	// RecoveryOnly tries again what is missing, and nothing else.
	RecoveryOnly bool `json:"recovery_only" required:"false"`
}

// Run sends no options.
func (c *Client) Run(ctx context.Context, connectionID string) error {
	return c.run(ctx, connectionID, nil)
}

// RunAnyway sends ask_anyway.
func (c *Client) RunAnyway(ctx context.Context, connectionID string) error {
	return c.run(ctx, connectionID, RunOptions{AskAnyway: true})
}

// RunRecovery sends recovery_only.
func (c *Client) RunRecovery(ctx context.Context, connectionID string, anyway bool) error {
	return c.run(ctx, connectionID, RunOptions{AskAnyway: anyway, RecoveryOnly: true})
}

func (c *Client) run(ctx context.Context, connectionID string, body any) error {
	path := []string{"_ref", "connections", connectionID, "run"}
	return c.call(ctx, request{method: http.MethodPost, path: path, body: body}, nil)
}
