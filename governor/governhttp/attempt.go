package governhttp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"pdpp/governor"
)

// maxRedirects bounds a chain.
const maxRedirects = 5

// manner is how the answer to a request is waited for and handed over.
type manner struct{ stream, patient bool }

// follow sends the request, with the headers that every request has, and then
// each redirect. A redirect is a request to the provider like any other, so each
// passes the sender.
func (c *Client) follow(ctx context.Context, req *http.Request, how manner) (*Response, error) {
	for name, values := range c.opt.Header {
		if req.Header[name] == nil {
			req.Header[name] = values
		}
	}
	if err := c.opt.Token.show(ctx, req); err != nil {
		return nil, err
	}
	for hop := 0; ; hop++ {
		resp, err := c.send(ctx, req, how)
		if c.opt.Token.again(ctx, req, resp) {
			resp, err = c.send(ctx, req, how)
		}
		if err != nil || !redirects(resp) {
			return resp, err
		}
		next, ok := c.redirected(req, resp)
		if !ok || hop == maxRedirects {
			return nil, &Error{Kind: Redirected, err: errRedirect}
		}
		req = next
	}
}

// send passes the attempts of one request through the sender.
func (c *Client) send(ctx context.Context, req *http.Request, how manner) (*Response, error) {
	if lost := c.reach.known(req.URL.Hostname(), c.opt.Now()); lost != nil {
		return nil, lost
	}
	var answer *Response
	attempts := 0
	err := c.opt.Sender.Do(ctx, func(ctx context.Context) (o governor.Outcome, err error) {
		attempts++
		if answer, err = c.attempt(ctx, req, how); err != nil {
			c.trying(ctx, err, attempts)
			return governor.Outcome{Kind: failureKind(err), Unreached: UnreachableHost(err) != "", Cut: wasCut(err)}, err
		}
		if o, err = c.judge(answer); o.Kind == governor.Throttled || o.Kind == governor.Failed {
			answer.drop()
		}
		return o, err
	})
	var lost *Error
	if errors.As(err, &lost) && lost.Kind == Unreachable {
		c.reach.lost(lost, c.opt.Now())
	}
	if err != nil && ctx.Err() != nil {
		return nil, err
	}
	if c.opt.Answered != nil && err == nil && answer.Stream == nil && answer.Status >= 200 && answer.Status < 300 {
		c.opt.Answered(req, answer)
	}
	return answer, err
}

// attempt makes one transmission of the request and reads the whole answer, but for
// a stream. A body within the bound is drained, so that its connection serves again;
// one past it costs the connection.
func (c *Client) attempt(ctx context.Context, req *http.Request, how manner) (*Response, error) {
	timed, cancel := context.WithCancelCause(ctx)
	patience := c.patience(how.patient, cancel)
	streaming := false
	defer func() {
		if patience.Stop(); !streaming {
			cancel(nil)
		}
	}()
	var way connecting
	once := req.Clone(way.within(timed))
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
		c.mute.Store(err != nil && timed.Err() != nil && ctx.Err() == nil)
	}
	if err != nil {
		if ctx.Err() == nil && way.failed(err) {
			return nil, &Error{Kind: Unreachable, Host: req.URL.Hostname(), err: WithoutURL(err)}
		}
		return nil, failure(ctx, timed, err)
	}
	patience.extend()
	if how.stream && resp.StatusCode >= 200 && resp.StatusCode < 300 {
		streaming = true
		answer := newResponse(resp.StatusCode, resp.Header, nil, c.opt.Now())
		answer.Stream = &streamed{resp.Body, cancel}
		return answer, nil
	}
	body, err := io.ReadAll(io.LimitReader(patience.watch(resp.Body), c.opt.MaxBody+1))
	_ = resp.Body.Close() // the body is read; an error here changes nothing
	switch {
	case err != nil:
		return nil, failure(ctx, timed, err)
	case int64(len(body)) > c.opt.MaxBody:
		return nil, &Error{Kind: TooLarge, err: fmt.Errorf("body exceeds %d bytes", c.opt.MaxBody)}
	}
	return newResponse(resp.StatusCode, resp.Header, body, c.opt.Now()), nil
}

// streamed is a body that ends its attempt when it is closed.
type streamed struct {
	io.ReadCloser
	end context.CancelCauseFunc
}

func (s *streamed) Close() error {
	defer s.end(nil)
	return s.ReadCloser.Close()
}

// drop closes a stream that nobody will read.
func (r *Response) drop() {
	if r != nil && r.Stream != nil {
		_ = r.Stream.Close() // it is given up
	}
}

func newResponse(status int, h http.Header, body []byte, now time.Time) *Response {
	r := &Response{Status: status, Header: h, Body: body, Quota: ReadQuota(h, now)}
	r.RetryAfter, r.HasRetryAfter = ReadRetryAfter(h, now)
	return r
}

// redirects tells whether an answer sends the request elsewhere.
func redirects(r *Response) bool {
	switch r.Status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return r.Header.Get("Location") != ""
	}
	return false
}

// redirected is the request that a redirect asks for. It keeps the credential in
// the headers with the party it was meant for: another host than the provider's, and
// its own without encryption, are refused.
func (c *Client) redirected(req *http.Request, resp *Response) (*http.Request, bool) {
	to, err := req.URL.Parse(resp.Header.Get("Location"))
	if err != nil || !c.serves(to) {
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

// becomesGet tells whether a redirect asks for what a request has made instead of asking
// for the request again elsewhere. A POST is taken so by everybody, whatever was meant; the
// methods that only read, as PROPFIND and REPORT do, are repeated as they are.
func becomesGet(method string, status int) bool {
	switch status {
	case http.StatusSeeOther:
		return method != http.MethodGet && method != http.MethodHead
	case http.StatusMovedPermanently, http.StatusFound:
		return method == http.MethodPost
	}
	return false
}
