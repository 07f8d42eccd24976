package governhttp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// maxRedirects bounds a chain of redirects.
const maxRedirects = 5

// deliveryMode is how to wait for a response and how to return it.
type deliveryMode struct {
	stream, patient bool
	noRedirect      bool
	classify        func(*Response) error // replaces that of the options; nil means theirs
}

// followRedirects adds the common headers, sends the request and follows redirects. Each redirect passes through
// the sender like any other request.
func (c *Client) followRedirects(ctx context.Context, req *http.Request, how deliveryMode) (*Response, error) {
	for name, values := range c.opt.Header {
		if req.Header[name] == nil {
			req.Header[name] = values
		}
	}
	if err := c.opt.Token.authorize(ctx, req); err != nil {
		return nil, err
	}
	for hop := 0; ; hop++ {
		resp, err := c.send(ctx, req, how)
		if c.opt.Token.refresh(ctx, req, resp) {
			resp, err = c.send(ctx, req, how)
		}
		if err != nil || !isRedirect(resp) {
			return resp, err
		}
		next, ok := c.redirectRequest(req, resp)
		if !ok || hop == maxRedirects || how.noRedirect {
			return nil, &Error{Kind: Redirected, err: errBadRedirect}
		}
		req = next
	}
}

// send passes the attempts of one request through the sender.
func (c *Client) send(ctx context.Context, req *http.Request, how deliveryMode) (*Response, error) {
	if lost := c.unreached.lookup(req.URL.Hostname(), c.opt.Now()); lost != nil {
		return nil, lost
	}
	var answer *Response
	attempts := 0
	err := c.opt.Sender.Do(ctx, func(ctx context.Context) (o governor.Outcome, err error) {
		attempts++
		if answer, err = c.attempt(ctx, req, how); err != nil {
			c.notifyUnreached(ctx, err, attempts)
			return governor.Outcome{
				Kind:      failureKind(err),
				Unreached: UnreachableHost(err) != "",
				Cut:       brokeBeforeResponse(err),
			}, err
		}
		if o, err = c.classify(answer, how.classify); o.Kind == governor.Throttled || o.Kind == governor.Failed {
			answer.discard()
		}
		return o, err
	})
	var lost *Error
	if errors.As(err, &lost) && lost.Kind == Unreachable {
		c.unreached.remember(lost, c.opt.Now())
	}
	if err != nil && ctx.Err() != nil {
		return nil, err
	}
	if c.opt.Answered != nil && err == nil && answer.Stream == nil && answer.Status >= 200 && answer.Status < 300 {
		c.opt.Answered(req, answer)
	}
	return answer, err
}

// attempt makes one transmission and reads the whole response, except for a stream. A body within the bound is
// read to the end, so that its connection can be reused. A larger body costs the connection.
func (c *Client) attempt(ctx context.Context, req *http.Request, how deliveryMode) (*Response, error) {
	timed, cancel := context.WithCancelCause(ctx)
	patience := c.startTimer(how.patient, cancel)
	streaming := false
	defer func() {
		if patience.Stop(); !streaming {
			cancel(nil)
		}
	}()
	var way connectTrace
	once := req.Clone(way.withTrace(timed))
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, &Error{Kind: Network, err: fmt.Errorf("repeat the request's body: %w", err)}
		}
		once.Body = body
	}
	if c.opt.Sign != nil {
		c.opt.Sign(once)
	}
	resp, err := c.opt.Transport.RoundTrip(once)
	if how.patient {
		c.patientTimedOut.Store(err != nil && timed.Err() != nil && ctx.Err() == nil)
	}
	if err != nil {
		if ctx.Err() == nil && way.noConnection(err) {
			return nil, &Error{Kind: Unreachable, Host: req.URL.Hostname(), err: WithoutURL(err)}
		}
		return nil, attemptError(ctx, timed, err)
	}
	patience.extend()
	if how.stream && resp.StatusCode >= 200 && resp.StatusCode < 300 {
		streaming = true
		answer := newResponse(resp.StatusCode, resp.Header, nil, c.opt.Now())
		answer.Stream = &attemptStream{resp.Body, cancel}
		return answer, nil
	}
	body, err := io.ReadAll(io.LimitReader(patience.watch(resp.Body), c.opt.MaxBody+1))
	_ = resp.Body.Close() // the body has been read; an error changes nothing
	switch {
	case err != nil:
		return nil, attemptError(ctx, timed, err)
	case int64(len(body)) > c.opt.MaxBody:
		return nil, &Error{Kind: TooLarge, err: fmt.Errorf("body exceeds %d bytes", c.opt.MaxBody)}
	}
	return newResponse(resp.StatusCode, resp.Header, body, c.opt.Now()), nil
}

// attemptStream is a body that ends its attempt when it is closed.
type attemptStream struct {
	io.ReadCloser
	end context.CancelCauseFunc
}

func (s *attemptStream) Close() error {
	defer s.end(nil)
	return s.ReadCloser.Close()
}

// discard closes a stream that will not be read.
func (r *Response) discard() {
	if r != nil && r.Stream != nil {
		_ = r.Stream.Close() // the response is discarded
	}
}

func newResponse(status int, h http.Header, body []byte, now time.Time) *Response {
	r := &Response{Status: status, Header: h, Body: body, Quota: ReadQuota(h, now)}
	r.RetryAfter, r.HasRetryAfter = ReadRetryAfter(h, now)
	return r
}

// isRedirect reports whether a response redirects the request.
func isRedirect(r *Response) bool {
	switch r.Status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return r.Header.Get("Location") != ""
	}
	return false
}

// redirectRequest returns the request for a redirect. It returns false if the target is another host, or the same
// host without encryption, because the headers contain credentials.
func (c *Client) redirectRequest(req *http.Request, resp *Response) (*http.Request, bool) {
	to, err := req.URL.Parse(resp.Header.Get("Location"))
	if err != nil || !c.isProviderURL(to) {
		return nil, false
	}
	next := req.Clone(req.Context())
	next.URL = to
	if becomesGet(req.Method, resp.Status) {
		next.Method, next.Body, next.GetBody, next.ContentLength = http.MethodGet, http.NoBody, nil, 0
		next.Header.Del("Content-Type")
	}
	return next, true
}

// becomesGet reports whether a redirect changes the method to GET. All clients do so for POST. Methods that only
// read, such as PROPFIND and REPORT, are repeated as they are.
func becomesGet(method string, status int) bool {
	switch status {
	case http.StatusSeeOther:
		return method != http.MethodGet && method != http.MethodHead
	case http.StatusMovedPermanently, http.StatusFound:
		return method == http.MethodPost
	}
	return false
}
