package governhttp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// once is a body that can be read one time and records when it is closed.
type once struct {
	io.Reader
	closed bool
}

func (o *once) Close() error { o.closed = true; return nil }

func TestHTTPClientTakesTheGovernedPath(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(unpaced)
		var bodies []string
		c, err := New(Options{
			BaseURL: "https://api.lumen.example/v1", Sender: r.Sender,
			Header: http.Header{"Authorization": {"Bearer base"}, "X-Own": {"base"}},
			Transport: replies(func(n int, req *http.Request) *http.Response {
				b, _ := io.ReadAll(req.Body)
				bodies = append(bodies, string(b))
				if req.Header.Get("Authorization") != "Bearer base" || req.Header.Get("X-Own") != "library" {
					t.Errorf("headers %v", req.Header)
				}
				if n%2 == 1 {
					return reply(503, "Retry-After: 5", "busy")
				}
				return reply(404, "X-Answer: yes", "gone")
			}).transport(),
		})
		if err != nil {
			t.Fatal(err)
		}
		stream := &once{Reader: strings.NewReader("stream")}
		for _, body := range []io.Reader{strings.NewReader("text"), stream} {
			req, err := http.NewRequestWithContext(t.Context(), "POST", "https://api.lumen.example/elsewhere", body)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("X-Own", "library")
			resp, err := c.HTTPClient().Do(req)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(resp.Body)
			if resp.StatusCode != 404 || resp.Status != "404 Not Found" || resp.Header.Get("X-Answer") != "yes" ||
				string(text) != "gone" {
				t.Errorf("answer %+v with %q", resp, text)
			}
		}
		if got := strings.Join(bodies, " "); got != "text text stream stream" || !stream.closed {
			t.Errorf("bodies %q, closed %v", got, stream.closed)
		}
		for i, w := range r.waits(t) {
			if i%2 == 1 && w != (Wait{Retry, 5 * time.Second, true}) {
				t.Errorf("repetition %d waited %+v", i, w)
			}
		}
	})
}

func TestHTTPClientRefusesOtherHosts(t *testing.T) {
	t.Parallel()
	c := clientOf(t, plain(), func(int, *http.Request) *http.Response {
		t.Error("the request was sent")
		return reply(200, "", "")
	})
	for _, target := range []string{"https://other.example/", "http://api.lumen.example/",
		"https://api.lumen.example:444/"} {
		body := &once{Reader: strings.NewReader("x")}
		req, err := http.NewRequestWithContext(t.Context(), "POST", target, body)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.HTTPClient().Do(req); !errors.Is(err, errOtherHost) || !body.closed {
			t.Errorf("%s: %v, body closed %v", target, err, body.closed)
		}
	}
	req, _ := http.NewRequestWithContext(t.Context(), "GET", "https://api.lumen.example/", nil)
	req.Host = "other.example"
	if _, err := c.HTTPClient().Do(req); !errors.Is(err, errOtherHost) {
		t.Errorf("another Host header: %v", err)
	}
}

func TestHTTPClientStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(unpaced, attempts(2))
		c := clientOf(t, r.Sender, func(int, *http.Request) *http.Response { return reply(429, "Retry-After: 1", "") })
		_, err := c.HTTPClient().Get("https://api.lumen.example/")
		if s := stoppedBy(t, err); s.Error() != "lumen_rate_limited" || s.Attempts != 2 {
			t.Errorf("stop %+v", s)
		}
	})
}

func TestRequestBodyIsBounded(t *testing.T) {
	t.Parallel()
	c := clientOf(t, plain(), func(int, *http.Request) *http.Response { return reply(200, "", "") })
	c.opt.MaxBody = 10
	for n, want := range map[int]bool{10: true, 11: false} {
		req, _ := http.NewRequestWithContext(
			t.Context(),
			"POST",
			"https://api.lumen.example/",
			&once{Reader: strings.NewReader(strings.Repeat("x", n))},
		)
		_, err := c.HTTPClient().Do(req)
		if want && err != nil || !want && kindOf(t, err) != TooLarge {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// A redirect within the host is a request to the provider like any other.
func TestRedirectsArePaced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(steady(time.Second))
		var seen []string
		c := clientOf(t, r.Sender, func(n int, req *http.Request) *http.Response {
			b, _ := io.ReadAll(req.Body)
			seen = append(seen, req.Method+" "+req.URL.Path+" "+req.Header.Get("Content-Type")+" "+string(b))
			switch n {
			case 1:
				return reply(308, "Location: /second?x=1", "")
			case 2:
				return reply(303, "Location: third", "")
			}
			return reply(200, "", "here")
		})
		resp, err := c.Do(t.Context(), Request{
			Method: "POST", Path: "first", Body: []byte("data"), Header: http.Header{"content-type": {"text/plain"}},
		})
		if err != nil || string(resp.Body) != "here" {
			t.Fatalf("answer %+v, %v", resp, err)
		}
		if got, want := strings.Join(
			seen,
			", ",
		), "POST /first text/plain data, POST /second text/plain data, GET /third  "; got != want {
			t.Errorf("requests %q, want %q", got, want)
		}
		for i, w := range r.waits(t) {
			if w != (Wait{Source: Preflight, For: time.Second}) {
				t.Errorf("request %d waited %+v", i, w)
			}
		}
	})
}

// A method that reads stays the same after a redirect; a POST becomes a GET.
func TestRedirectKeepsWhatReads(t *testing.T) {
	t.Parallel()
	for _, status := range []int{301, 302, 303, 307, 308} {
		for method, kept := range map[string]bool{"PROPFIND": status != 303, "REPORT": status != 303, "POST": status > 303} {
			var seen []string
			c := clientOf(t, plain(), func(n int, req *http.Request) *http.Response {
				b, _ := io.ReadAll(req.Body)
				seen = append(seen, req.Method+string(b))
				if n == 1 {
					return reply(status, "Location: /there", "")
				}
				return reply(200, "", "")
			})
			if _, err := c.Do(t.Context(), Request{Method: method, Body: []byte(" body")}); err != nil {
				t.Fatal(err)
			}
			if want := map[bool]string{true: method + " body", false: "GET"}[kept]; len(seen) != 2 || seen[1] != want {
				t.Errorf("%s after %d became %q, want %q", method, status, seen, want)
			}
		}
	}
}

// The same host without encryption must not get the credential.
func TestRedirectKeepsEncryption(t *testing.T) {
	t.Parallel()
	c := clientOf(t, plain(), func(_ int, r *http.Request) *http.Response {
		if r.URL.Scheme == "http" {
			return reply(200, "", "")
		}
		return reply(302, "Location: http://api.lumen.example/", "")
	})
	if resp, err := c.Get(t.Context(), "", nil); resp != nil || kindOf(t, err) != Redirected {
		t.Errorf("answer %+v, %v", resp, err)
	}
}

// A Location may hold anything, so no error repeats it.
func TestUnreadableRedirectIsRefused(t *testing.T) {
	t.Parallel()
	c := clientOf(t, plain(), func(int, *http.Request) *http.Response {
		return reply(302, "Location: https://%zz/?key=hush", "")
	})
	if _, err := c.Get(t.Context(), "", nil); kindOf(t, err) != Redirected || strings.Contains(err.Error(), "hush") {
		t.Errorf("error %v", err)
	}
}

// Classify does not get a redirect that is followed. It does get one without a target.
func TestClassifySeesOnlyTheLastAnswer(t *testing.T) {
	t.Parallel()
	var judged []int
	c := clientOf(t, plain(), func(n int, _ *http.Request) *http.Response {
		if n == 1 {
			return reply(301, "Location: /there", "")
		}
		return reply(302, "", "")
	})
	c.opt.Classify = func(r *Response) error {
		judged = append(judged, r.Status)
		return errProvider
	}
	if resp, err := c.Get(t.Context(), "", nil); err != errProvider || resp.Status != 302 || len(judged) != 1 {
		t.Errorf("answer %+v, %v, judged %v", resp, err, judged)
	}
}

// A caller that cancels during a pause gets no earlier response.
func TestCancelledRequestHasNoAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := clientOf(t, newRig(unpaced).Sender, func(int, *http.Request) *http.Response {
			return reply(429, "Retry-After: 60", "")
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if resp, err := c.Get(ctx, "", nil); resp != nil || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("answer %+v, %v", resp, err)
		}
	})
}
