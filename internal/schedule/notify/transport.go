package notify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
)

// result is the outcome of one message at one target.
type result struct {
	ok   bool
	word string // why it failed
	// gone means that the target will never work again, hopeless that another message in this pass would fail, ours that
	// the failure is not the target's fault, and stopped that the process is stopping.
	gone, hopeless, ours, stopped bool
}

const (
	maxRedirects = 3
	maxResponse  = 4 << 10 // limit for reading a response, which is discarded
)

var errRedirect = errors.New("redirected elsewhere")

// client returns the HTTP client with this package's redirect rule: only to another path on the same host.
func (s *Sender) client() *http.Client {
	c := http.Client{Transport: plainTransport}
	switch {
	case s.HTTP != nil:
		c = *s.HTTP
	case s.Resolver != nil:
		c.Transport = newTransport(s.Resolver)
	}
	c.CheckRedirect = func(next *http.Request, before []*http.Request) error {
		first := before[0]
		if len(before) > maxRedirects || next.URL.Host != first.URL.Host || next.URL.Scheme != first.URL.Scheme ||
			next.Method != first.Method {
			return errRedirect
		}
		return nil
	}
	return &c
}

func (s *Sender) post(req *http.Request) result {
	return responseResult(s.client().Do(req))
}

// responseResult classifies the response. It keeps neither the error's text nor the body: both may contain the
// target's address, which is secret.
func responseResult(resp *http.Response, err error) result {
	if err != nil {
		return errorResult(err)
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, maxResponse) // so that the connection can be reused
	if resp.StatusCode >= 200 && resp.StatusCode < 300 {
		return result{ok: true}
	}
	return result{word: fmt.Sprintf("http_%d", resp.StatusCode)}
}

func errorResult(err error) result {
	var slow net.Error
	switch {
	case errors.Is(err, errRedirect):
		return result{word: "redirected"}
	case errors.Is(err, errForbidden):
		return result{word: "forbidden_address", hopeless: true}
	case errors.Is(err, context.Canceled):
		return result{word: "stopped", hopeless: true, ours: true, stopped: true}
	case errors.As(err, &slow) && slow.Timeout():
		return result{word: "timeout", hopeless: true}
	default:
		return result{word: "unreachable", hopeless: true}
	}
}
