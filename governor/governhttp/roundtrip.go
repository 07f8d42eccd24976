package governhttp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// HTTPClient is an http.Client over this client, for a library that makes its own
// requests.
func (c *Client) HTTPClient() *http.Client { return &http.Client{Transport: c} }

// RoundTrip sends the request on the same path as Do: paced, repeated, bounded, and
// kept on the provider's hosts. Redirects are followed here.
//
// A final answer is handed over whatever its status, because the caller judges by
// that; Classify steers only the pace and the repetitions. A request that got no final
// answer fails with *Stopped. net/http repeats the URL in the text of its errors;
// WithoutURL takes it out before one is shown.
//
// A body of a request that cannot be had twice is read into memory first, within the
// bound for answers.
func (c *Client) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		defer req.Body.Close()
	}
	if !c.serves(req.URL) || req.Host != "" && req.Host != req.URL.Host {
		return nil, errElsewhere
	}
	own := req.Clone(req.Context())
	own.RequestURI, own.Header = "", header(nil, req.Header)
	if req.Body != nil && req.GetBody == nil {
		if err := c.keepBody(own); err != nil {
			return nil, err
		}
	}
	resp, err := c.follow(req.Context(), own, manner{stream: c.opt.Stream})
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

var errElsewhere = errors.New("request goes to another host than the provider's")

// keepBody reads the request's body, so that it can be sent again.
func (c *Client) keepBody(req *http.Request) error {
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
