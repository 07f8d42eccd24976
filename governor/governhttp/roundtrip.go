package governhttp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// HTTPClient returns an http.Client that uses this client as its transport.
func (c *Client) HTTPClient() *http.Client { return &http.Client{Transport: c} }

// RoundTrip implements http.RoundTripper. Requests are paced, retried, bounded and restricted to the provider's
// hosts, as with Do. RoundTrip follows redirects.
//
// A final response is returned whatever its status, because the caller checks it; Classify only affects the pace
// and the retries. A request without a final response fails with *Stopped. net/http repeats the URL in its
// errors; use WithoutURL before showing one.
//
// A request body that cannot be read twice is first read into memory, up to Options.MaxBody.
func (c *Client) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		defer req.Body.Close()
	}
	if !c.isProviderURL(req.URL) || req.Host != "" && req.Host != req.URL.Host {
		return nil, errOtherHost
	}
	own := req.Clone(req.Context())
	own.RequestURI, own.Header = "", canonicalHeader(nil, req.Header)
	if req.Body != nil && req.GetBody == nil {
		if err := c.bufferBody(own); err != nil {
			return nil, err
		}
	}
	resp, err := c.followRedirects(req.Context(), own, deliveryMode{stream: c.opt.Stream})
	var stopped *Stopped
	if resp == nil || errors.As(err, &stopped) {
		return nil, err
	}
	body, length := resp.Stream, int64(-1)
	if body == nil {
		body, length = io.NopCloser(bytes.NewReader(resp.Body)), int64(len(resp.Body))
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", resp.Status, http.StatusText(resp.Status)), StatusCode: resp.Status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: resp.Header, Body: body, ContentLength: length,
		Request: req,
	}, nil
}

var errOtherHost = errors.New("request goes to another host than the provider's")

// bufferBody reads the request's body, so that it can be sent again.
func (c *Client) bufferBody(req *http.Request) error {
	body, err := io.ReadAll(io.LimitReader(req.Body, c.opt.MaxBody+1))
	switch {
	case err != nil:
		return fmt.Errorf("read the request's body: %w", err)
	case int64(len(body)) > c.opt.MaxBody:
		return &Error{Kind: TooLarge, err: fmt.Errorf("request body exceeds %d bytes", c.opt.MaxBody)}
	}
	req.ContentLength = int64(len(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	return nil
}
