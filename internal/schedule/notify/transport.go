package notify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
)

// result is how one target took one push.
type result struct {
	ok   bool
	word string // why not
	// gone means that the target will never work again; hopeless that asking it
	// once more in this pass is a waste; ours that it is not the target's fault;
	// stopped that the process was told to stop.
	gone, hopeless, ours, stopped bool
}

const (
	maxRedirects = 3
	maxResponse  = 4 << 10 // what is read of an answer, which nobody needs
)

var errRedirect = errors.New("redirected elsewhere")

// client is the given one with our rules: the answer may send us to another
// place on the same host, and nowhere else.
func (s *Sender) client() *http.Client {
	c := http.Client{Transport: plainTransport}
	switch {
	case s.HTTP != nil:
		c = *s.HTTP
	case s.Resolver != nil:
		c.Transport = transport(s.Resolver)
	}
	c.CheckRedirect = func(next *http.Request, before []*http.Request) error {
		first := before[0]
		if len(before) > maxRedirects || next.URL.Host != first.URL.Host || next.URL.Scheme != first.URL.Scheme || next.Method != first.Method {
			return errRedirect
		}
		return nil
	}
	return &c
}

func (s *Sender) post(req *http.Request) result {
	return judgeAnswer(s.client().Do(req))
}

// judgeAnswer makes a word of what came back. Neither the error's text nor the
// answer's body is kept: both may tell the target's address, which is a secret.
func judgeAnswer(resp *http.Response, err error) result {
	if err != nil {
		return failed(err)
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, maxResponse) // so that the connection can be used again
	if resp.StatusCode >= 200 && resp.StatusCode < 300 {
		return result{ok: true}
	}
	return result{word: fmt.Sprintf("http_%d", resp.StatusCode)}
}

func failed(err error) result {
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
