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
	// Hosts are further hosts of the provider, each with its port unless that is the
	// scheme's own: an upload or a download host, say. They are asked by Request.URL, by
	// the client as a RoundTripper and by redirects, under the same headers, pace and
	// scheme as the base's. Every other host is refused.
	Hosts []string
	// Header is sent with every request, to every host.
	Header http.Header
	// Token gives the access token that every request shows which has no Authorization of its
	// own. A request that is answered 401 is sent once more with a fresh one, as a request to the
	// provider like any other; nil means that there is none.
	Token Token
	// Sign changes each transmission right before it is sent, repetitions and redirected requests included: what proves
	// who asks may depend on the address and be good once. Nil changes nothing.
	Sign func(*http.Request)
	// Classify turns an answer into the connector's typed error, or nil when the
	// answer is good. An error with a method Kind() governor.Kind decides what the
	// answer says about the provider; otherwise Meaning does. Where a wait or a
	// quota stands in the body, Classify may fill in those members of the answer.
	// Without it every answer is good, unless its status asks to try again.
	Classify func(*Response) error
	// Timeout bounds how long one attempt goes without getting ahead: from connecting to
	// the beginning of the answer, and then for each quarter of a mebibyte of its body. A
	// connection of its own has less time, and a patient request more.
	Timeout time.Duration
	// MaxBody bounds the body in bytes; a larger one is an error.
	MaxBody int64
	// Stream hands over the body of a 2xx answer as it arrives, for requests that come
	// through the client as a RoundTripper. Do is asked by Request.Stream.
	Stream bool
	// Transport carries the requests; nil means one that this client owns.
	Transport http.RoundTripper
	// Dial makes the connections of a transport that this client owns; nil means over
	// the network.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Unreached is told that the host could not be reached and is about to be tried
	// again, so that a run can say why it is quiet.
	Unreached func(ctx context.Context, host string, attempt, of int)
	// Answered is called with every good answer that is not a stream, for a look at its form. It
	// must not change or keep the answer.
	Answered func(req *http.Request, r *Response)
	// Sender is the request path; nil means one of this client alone, with a
	// governor named after the host.
	Sender *Sender
	// Now reads the clock for an instant in a header when the answer has no Date.
	Now func() time.Time
}

// Client sends requests to one provider. It is safe for concurrent use, and it is an
// http.RoundTripper: put into an http.Client it governs what any library sends.
type Client struct {
	base  *url.URL
	opt   Options
	reach reach
	mute  atomic.Bool // patience for it is used up
}

// Request is one call. Path is relative to the base URL and already escaped.
type Request struct {
	Method string // empty means GET
	Path   string
	// URL is an absolute address in place of base and path, as a provider gives it for
	// a file or a next page. Its host is the base's or one of Options.Hosts.
	URL    string
	Query  url.Values // added to what URL has
	Header http.Header
	Body   []byte
	// Stream asks for the body of a 2xx answer as it arrives.
	Stream bool
	// Patient says that the provider goes through all that it keeps before it answers, for
	// the list of a whole collection: the beginning of the answer may take ten timeouts. To
	// give up sooner and ask again would have the provider begin again, beside what it is
	// at. One that said nothing for so long is waited for as ever, until it has answered a
	// patient request.
	Patient bool
}

// Response is an answer.
type Response struct {
	Status int
	Header http.Header
	// Body is the whole body; it is empty when Stream is set.
	Body []byte
	// Stream is the body as it arrives, if that was asked for and the answer is 2xx.
	// Neither Timeout nor MaxBody bound it, and a failure within it is not repeated.
	// Whoever gets it closes it.
	Stream io.ReadCloser
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
	target, err := c.target(r)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, target.String(), bytes.NewReader(r.Body))
	if err != nil {
		return nil, errors.New("request is malformed: check method and path")
	}
	req.Header = header(nil, r.Header)
	resp, err := c.follow(ctx, req, manner{stream: r.Stream, patient: r.Patient})
	if err != nil {
		resp.drop()
	}
	return resp, err
}

// target is where a request goes.
func (c *Client) target(r Request) (*url.URL, error) {
	if r.URL == "" {
		to := c.base.JoinPath(r.Path)
		to.RawQuery = r.Query.Encode()
		return to, nil
	}
	to, err := url.Parse(r.URL)
	if err != nil || !c.serves(to) {
		return nil, errElsewhere
	}
	if len(r.Query) > 0 {
		query := to.Query()
		maps.Copy(query, r.Query)
		to.RawQuery = query.Encode()
	}
	return to, nil
}

// serves tells whether an address is the provider's: of one of its hosts, and as
// encrypted as its base.
func (c *Client) serves(to *url.URL) bool {
	return to.Scheme == c.base.Scheme && (to.Host == c.base.Host || slices.Contains(c.opt.Hosts, to.Host))
}
