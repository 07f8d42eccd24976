package governhttp

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"net"
	"net/http"
	"net/url"
	"time"

	"pdpp/governor"
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
	// answer is good. An error with a method Kind() governor.Kind decides what the
	// answer says about the provider; otherwise Meaning does. Where a wait or a
	// quota stands in the body, Classify may fill in those members of the answer.
	// Without it every answer is good, unless its status asks to try again.
	Classify func(*Response) error
	// Timeout bounds one attempt from connecting to the last byte of the body. A
	// connection of its own has less time.
	Timeout time.Duration
	// MaxBody bounds the body in bytes; a larger one is an error.
	MaxBody int64
	// Transport carries the requests; nil means one that this client owns.
	Transport http.RoundTripper
	// Dial makes the connections of a transport that this client owns; nil means over
	// the network.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Unreached is told that the host could not be reached and is about to be tried
	// again, so that a run can say why it is quiet.
	Unreached func(ctx context.Context, host string, attempt, of int)
	// Sender is the request path; nil means one of this client alone, with a
	// governor named after the host.
	Sender *Sender
	// Now reads the clock for an instant in a header when the answer has no Date.
	Now func() time.Time
}

// Client sends requests to one provider. It is safe for concurrent use.
type Client struct {
	base  *url.URL
	opt   Options
	reach reach
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
	// RetryAfter is how long the provider asks to wait. HasRetryAfter tells a wait of
	// zero from none.
	RetryAfter    time.Duration
	HasRetryAfter bool
	// Quota is what the provider says is left.
	Quota governor.Quota
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
	if o.Sender == nil {
		o.Sender = NewSender(governor.New(base.Hostname()), SenderOptions{})
	}
	if o.Transport == nil {
		o.Transport = transport(cap(o.Sender.slots), o.Dial)
	}
	o.Header = header(base.User, o.Header)
	base.User = nil
	return &Client{base: base, opt: o}, nil
}

// header spells the names as net/http does, and a user in the base URL as the
// header that it means.
func header(user *url.Userinfo, given http.Header) http.Header {
	h := http.Header{}
	if user != nil {
		password, _ := user.Password()
		secret := base64.StdEncoding.EncodeToString([]byte(user.Username() + ":" + password))
		h.Set("Authorization", "Basic "+secret)
	}
	for name, values := range given {
		h[http.CanonicalHeaderKey(name)] = values
	}
	return h
}

// Get is Do for a plain GET.
func (c *Client) Get(ctx context.Context, path string, query url.Values) (*Response, error) {
	return c.Do(ctx, Request{Path: path, Query: query})
}

// Do sends a request until the answer is final, redirects within the host
// included. The error is what Classify said, *Stopped when no final answer came,
// *Error when a final one was not usable, or the cause of the context's end. The
// response is the last answer; it is nil when the last attempt had none.
//
// Collecting only reads, so a request is sent again whatever its method.
func (c *Client) Do(ctx context.Context, r Request) (*Response, error) {
	target := c.base.JoinPath(r.Path)
	target.RawQuery = r.Query.Encode()
	req, err := http.NewRequestWithContext(ctx, r.Method, target.String(), bytes.NewReader(r.Body))
	if err != nil {
		return nil, errors.New("request is malformed: check method and path")
	}
	req.Header = header(nil, r.Header)
	return c.follow(ctx, req)
}
