package governhttp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// What a client does unless its options say otherwise.
const (
	DefaultTimeout = 45 * time.Second
	DefaultMaxBody = 16 << 20
)

// Options describe one provider. Only BaseURL is required.
type Options struct {
	// BaseURL is the provider's root; request paths are appended to it.
	BaseURL string
	// Header is sent with every request.
	Header http.Header
	// Classify turns an answer into the connector's typed error, or nil when the
	// answer is good. Without it every answer is good.
	Classify func(*Response) error
	// Timeout bounds one attempt from connecting to the last byte of the body.
	Timeout time.Duration
	// MaxBody bounds the body in bytes; a larger one is an error.
	MaxBody int64
	// Transport carries the requests; nil means one that this client owns.
	Transport http.RoundTripper
	// Now reads the clock for a Retry-After date when the answer has no Date.
	Now func() time.Time
}

// Client sends requests to one provider. It is safe for concurrent use.
type Client struct {
	base *url.URL
	http *http.Client
	opt  Options
}

// Request is one call. Path is relative to the base URL and already escaped.
type Request struct {
	Method string // empty means GET
	Path   string
	Query  url.Values
	Header http.Header
	Body   []byte
}

// Response is a complete answer.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
	// RetryAfter is how long the provider asks to wait; zero when it does not say.
	RetryAfter time.Duration
}

// New checks the options and makes a client.
func New(o Options) (*Client, error) {
	base, err := url.Parse(o.BaseURL)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, errors.New("base URL must be absolute, http or https")
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.MaxBody <= 0 {
		o.MaxBody = DefaultMaxBody
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Transport == nil {
		o.Transport = http.DefaultTransport.(*http.Transport).Clone()
	}
	client := &http.Client{Transport: o.Transport, CheckRedirect: stayOnHost}
	return &Client{base: base, http: client, opt: o}, nil
}

// Get is Do for a plain GET.
func (c *Client) Get(ctx context.Context, path string, query url.Values) (*Response, error) {
	return c.Do(ctx, Request{Path: path, Query: query})
}

// Do makes one attempt. The error is what Classify said, an *Error when no
// usable answer came, or the context's error when the caller gave up. The
// response is nil with every error but Classify's.
func (c *Client) Do(ctx context.Context, r Request) (*Response, error) {
	attempt, cancel := context.WithTimeout(ctx, c.opt.Timeout)
	defer cancel()
	req, err := c.request(attempt, r)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, failure(ctx, attempt, err)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, c.opt.MaxBody+1))
	_ = resp.Body.Close() // the body is read; an error here changes nothing
	switch {
	case err != nil:
		return nil, failure(ctx, attempt, err)
	case int64(len(body)) > c.opt.MaxBody:
		return nil, &Error{Kind: TooLarge, err: fmt.Errorf("body exceeds %d bytes", c.opt.MaxBody)}
	}
	out := &Response{Status: resp.StatusCode, Header: resp.Header, Body: body}
	out.RetryAfter = retryAfter(resp.Header, c.opt.Now)
	if c.opt.Classify != nil {
		err = c.opt.Classify(out)
	}
	return out, err
}

func (c *Client) request(ctx context.Context, r Request) (*http.Request, error) {
	target := c.base.JoinPath(r.Path)
	target.RawQuery = r.Query.Encode()
	req, err := http.NewRequestWithContext(ctx, r.Method, target.String(), bytes.NewReader(r.Body))
	if err != nil {
		return nil, errors.New("request is malformed: check method and path")
	}
	for _, h := range []http.Header{c.opt.Header, r.Header} {
		for name, values := range h {
			req.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	return req, nil
}

// maxRedirects bounds a chain within one host.
const maxRedirects = 5

// stayOnHost keeps the credential in the headers with the party it was meant
// for: another host, and the same host without encryption, are refused.
func stayOnHost(req *http.Request, via []*http.Request) error {
	first := via[0].URL
	if req.URL.Host != first.Host || req.URL.Scheme != first.Scheme {
		return errRedirect
	}
	if len(via) > maxRedirects {
		return errRedirect
	}
	return nil
}
