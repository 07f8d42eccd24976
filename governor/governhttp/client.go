package governhttp

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// Defaults of Options.
const (
	DefaultTimeout = 45 * time.Second
	DefaultMaxBody = 16 << 20
)

// Options configures a Client for one provider. Only BaseURL is required.
type Options struct {
	// BaseURL is the provider's root. Request paths are appended to it.
	BaseURL string
	// Hosts are additional hosts of the provider, for example for uploads, with a port unless it is the default
	// port of the scheme. Requests reach them through Request.URL, through RoundTrip and through redirects, with
	// the headers, pace and scheme of the base URL. Requests to all other hosts are refused.
	Hosts []string
	// Header is sent with every request, to every host.
	Header http.Header
	// Token returns the access token for requests without an Authorization header. A request that gets a 401
	// response is sent once more with a fresh token, as a separate request. Nil means no token.
	Token Token
	// Sign changes each transmission right before it is sent, including retries and redirects. It serves
	// credentials that depend on the address or are valid once. Nil changes nothing.
	Sign func(*http.Request)
	// Classify converts a response to the connector's typed error, or returns nil if the response is good. An
	// error with a method Kind() governor.Kind decides how the response affects the pace; otherwise Meaning does.
	// If the body contains a wait or a quota, Classify may set these members of the response. Without Classify
	// every response is good, unless its status asks for a retry.
	Classify func(*Response) error
	// Timeout bounds the time without progress: from connecting to the beginning of the response, and then for
	// each 256 KiB of its body. Connecting has a shorter timeout, and a patient request a longer one.
	Timeout time.Duration
	// MaxBody bounds the body in bytes. A larger body is an error.
	MaxBody int64
	// Stream returns the body of a 2xx response as it arrives, for requests through RoundTrip. For Do, use
	// Request.Stream.
	Stream bool
	// Transport sends the requests. Nil means a transport that this client owns.
	Transport http.RoundTripper
	// Dial makes the connections of the client's own transport. Nil means a network dialer.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Unreached is called before another attempt to reach a host that could not be reached, so that a run can
	// report why it waits.
	Unreached func(ctx context.Context, host string, attempt, of int)
	// Answered is called with every good response that is not a stream, to inspect its form. It must not change
	// or keep the response.
	Answered func(req *http.Request, r *Response)
	// Sender sends the requests. Nil means a sender of this client, with a governor named after the host.
	Sender *Sender
	// Now returns the current time, for instants in headers of responses without a Date.
	Now func() time.Time
}

// Client sends requests to one provider. It is safe for concurrent use. It is an http.RoundTripper, so an
// http.Client can use it as its Transport.
type Client struct {
	base            *url.URL
	opt             Options
	unreached       unreachableHosts
	patientTimedOut atomic.Bool // a patient request already timed out
}

// Request describes one call of Do. Path is relative to the base URL and already escaped.
type Request struct {
	Method string // empty means GET
	Path   string
	// URL is an absolute address that replaces base URL and Path, for example of a file or a next page. Its host
	// must be the base host or one of Options.Hosts.
	URL    string
	Query  url.Values // added to the query of URL
	Header http.Header
	Body   []byte
	// Stream requests the body of a 2xx response as it arrives.
	Stream bool
	// Patient is for requests that make the provider read a whole collection before it responds. The beginning of
	// the response may take ten timeouts, because a retry would start the work again beside the first request.
	// After such a request has timed out, later ones wait only one timeout, until the provider has responded to a
	// patient request.
	Patient bool
	// Classify replaces Options.Classify for the response to this request. Nil means that of the options.
	Classify func(*Response) error
	// NoRedirect makes every redirect an error, for a request with a secret in its body.
	NoRedirect bool
	// Renew is called once if the response is an error. It returns the request to send instead, for example with a
	// fresh credential, or the final error. Nil means that every error is final.
	Renew func(ctx context.Context, resp *Response, refused error) (*Request, error)
}

// Response is the response to a request.
type Response struct {
	Status int
	Header http.Header
	// Body is the whole body. It is empty if Stream is set.
	Body []byte
	// Stream is the body as it arrives, if it was requested and the status is 2xx. Timeout and MaxBody do not
	// bound it, and a failure while reading it is not retried. The caller must close it.
	Stream io.ReadCloser
	// RetryAfter is how long the provider asks to wait. It counts only if HasRetryAfter is true.
	RetryAfter    time.Duration
	HasRetryAfter bool
	// Quota is the quota that the provider announced.
	Quota governor.Quota
}

// New validates the options and returns a Client.
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
		o.Transport = newTransport(cap(o.Sender.slots), o.Dial)
	}
	o.Header = canonicalHeader(base.User, o.Header)
	base.User = nil
	return &Client{base: base, opt: o}, nil
}

// canonicalHeader returns a copy of base with canonical names. A user becomes a Basic Authorization header.
func canonicalHeader(user *url.Userinfo, base http.Header) http.Header {
	h := http.Header{}
	if user != nil {
		password, _ := user.Password()
		secret := base64.StdEncoding.EncodeToString([]byte(user.Username() + ":" + password))
		h.Set("Authorization", "Basic "+secret)
	}
	for name, values := range base {
		h[http.CanonicalHeaderKey(name)] = values
	}
	return h
}

// Get calls Do for a GET request.
func (c *Client) Get(ctx context.Context, path string, query url.Values) (*Response, error) {
	return c.Do(ctx, Request{Path: path, Query: query})
}

// Do sends a request until its response is final. It follows redirects to the provider's hosts. The error is the
// result of Classify, *Stopped if there was no final response, *Error if the final response was not usable, or
// the cause of the context's end. The response is the last one; it is nil if the last attempt had none.
//
// Do retries requests of every method, because collectors only read.
func (c *Client) Do(ctx context.Context, r Request) (*Response, error) {
	resp, err := c.do(ctx, r)
	if err == nil || r.Renew == nil || resp == nil || ctx.Err() != nil {
		return resp, err
	}
	again, err := r.Renew(ctx, resp, err)
	if err != nil {
		return resp, err
	}
	return c.do(ctx, *again)
}

func (c *Client) do(ctx context.Context, r Request) (*Response, error) {
	target, err := c.target(r)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, target.String(), bytes.NewReader(r.Body))
	if err != nil {
		return nil, errors.New("request is malformed: check method and path")
	}
	req.Header = canonicalHeader(nil, r.Header)
	resp, err := c.followRedirects(ctx, req, deliveryMode{stream: r.Stream, patient: r.Patient,
		classify: r.Classify, noRedirect: r.NoRedirect})
	if err != nil {
		resp.discard()
	}
	return resp, err
}

// target returns the address of a request.
func (c *Client) target(r Request) (*url.URL, error) {
	if r.URL == "" {
		to := c.base.JoinPath(r.Path)
		to.RawQuery = r.Query.Encode()
		return to, nil
	}
	to, err := url.Parse(r.URL)
	if err != nil || !c.isProviderURL(to) {
		return nil, errOtherHost
	}
	if len(r.Query) > 0 {
		query := to.Query()
		maps.Copy(query, r.Query)
		to.RawQuery = query.Encode()
	}
	return to, nil
}

// isProviderURL reports whether an address belongs to the provider: one of its hosts, with the scheme of the base
// URL.
func (c *Client) isProviderURL(to *url.URL) bool {
	return to.Scheme == c.base.Scheme && (to.Host == c.base.Host || slices.Contains(c.opt.Hosts, to.Host))
}
