package governhttp

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// plain is a sender that neither paces nor repeats.
func plain() *Sender {
	return NewSender(governor.New("test", func(c *governor.Config) { c.Discovery, c.Attempts = 0, 1 }), SenderOptions{})
}

// serve returns a client of the handler. The sender's tests cover the pace.
func serve(t *testing.T, h http.HandlerFunc, o Options) *Client {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	o.BaseURL = s.URL
	if o.Sender == nil {
		o.Sender = plain()
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func kindOf(t *testing.T, err error) FailureKind {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v is not an *Error", err)
	}
	return e.Kind
}

func TestRequestIsBuiltFromBaseAndOptions(t *testing.T) {
	t.Parallel()
	var got *http.Request
	var body string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got, body = r, string(b)
		w.Header().Set("X-Answer", "yes")
		_, _ = io.WriteString(w, "hello")
	}))
	defer s.Close()
	c, err := New(
		Options{
			BaseURL: s.URL + "/api/",
			Sender:  plain(),
			Header:  http.Header{"authorization": {"Bearer t"}, "X-Both": {"base"}},
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(t.Context(), Request{
		Method: "POST", Path: "/v1/items/" + url.PathEscape("a/b"), Query: url.Values{"q": {"x y"}},
		Header: http.Header{"X-Both": {"request"}}, Body: []byte("data"),
	})
	if err != nil || resp.Status != 200 || string(resp.Body) != "hello" || resp.Header.Get("X-Answer") != "yes" {
		t.Fatalf("answer %+v, %v", resp, err)
	}
	if got.Method != "POST" || got.RequestURI != "/api/v1/items/a%2Fb?q=x+y" || body != "data" {
		t.Errorf("request %s %s with %q", got.Method, got.RequestURI, body)
	}
	if got.Header.Get("Authorization") != "Bearer t" || got.Header.Get("X-Both") != "request" {
		t.Errorf("headers %v", got.Header)
	}
}

func TestBaseURLIsChecked(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"", "example.org", "ftp://example.org", "http://", "://"} {
		if _, err := New(Options{BaseURL: base}); err == nil {
			t.Errorf("base URL %q is accepted", base)
		}
	}
}

func TestUserOfTheBaseURLIsAHeader(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{"": "Basic bWU6cGFzcw==", "Bearer t": "Bearer t"} {
		h := http.Header{}
		if given != "" {
			h.Set("Authorization", given)
		}
		c, err := New(Options{
			BaseURL: "https://me:pass@api.lumen.example/feed", Header: h, Sender: plain(),
			Transport: replies(func(_ int, r *http.Request) *http.Response {
				if got := r.Header.Get("Authorization"); got != want || r.URL.String() != "https://api.lumen.example/feed" {
					t.Errorf("%s with %q, want %q", r.URL, got, want)
				}
				return reply(200, "", "")
			}).transport(),
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Get(t.Context(), "", nil); err != nil {
			t.Error(err)
		}
	}
}

func TestClassifyDecides(t *testing.T) {
	t.Parallel()
	refused := errors.New("refused")
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusTeapot) }, Options{
		Classify: func(r *Response) error {
			if r.Status == http.StatusTeapot && strings.HasPrefix(string(r.Body), "no") {
				return refused
			}
			return nil
		},
	})
	resp, err := c.Get(t.Context(), "", nil)
	if !errors.Is(err, refused) || resp == nil || resp.Status != http.StatusTeapot {
		t.Errorf("answer %+v, %v", resp, err)
	}
}

func TestBodyIsBounded(t *testing.T) {
	t.Parallel()
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("x", len(r.URL.Query().Get("n"))))
	}, Options{MaxBody: 10})
	if resp, err := c.Get(
		t.Context(),
		"",
		url.Values{"n": {strings.Repeat("x", 10)}},
	); err != nil ||
		len(resp.Body) != 10 {
		t.Errorf("a body at the bound: %v", err)
	}
	_, err := c.Get(t.Context(), "", url.Values{"n": {strings.Repeat("x", 11)}})
	if kindOf(t, err) != TooLarge {
		t.Errorf("a body past the bound: %v", err)
	}
}

func TestConnectionIsReusedUnlessTheBodyIsTooLarge(t *testing.T) {
	t.Parallel()
	var from []string
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		from = append(from, r.RemoteAddr)
		if r.URL.Query().Has("big") {
			_, _ = io.WriteString(w, strings.Repeat("x", 4<<20))
			return
		}
		http.Error(w, strings.Repeat("x", 1000), http.StatusNotFound)
	}, Options{MaxBody: 1 << 20})
	for _, query := range []url.Values{nil, {"big": {"1"}}, nil} {
		_, _ = c.Get(t.Context(), "", query)
	}
	if len(from) != 3 || from[0] != from[1] || from[1] == from[2] {
		t.Errorf("connections %v, want the first two requests on one and the third on another", from)
	}
}

func TestRedirectsStayOnTheHost(t *testing.T) {
	t.Parallel()
	var leaked bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { leaked = true }))
	defer other.Close()
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/near":
			http.Redirect(w, r, "/here", http.StatusFound)
		case "/far":
			http.Redirect(w, r, other.URL, http.StatusFound)
		case "/round":
			http.Redirect(w, r, "/round", http.StatusFound)
		}
	}, Options{Header: http.Header{"Authorization": {"secret"}}})
	if resp, err := c.Get(t.Context(), "near", nil); err != nil || resp.Status != 200 {
		t.Errorf("a redirect on the host: %v", err)
	}
	for _, path := range []string{"far", "round"} {
		if _, err := c.Get(t.Context(), path, nil); kindOf(t, err) != Redirected {
			t.Errorf("%s: %v", path, err)
		}
	}
	if leaked {
		t.Error("the request reached another host")
	}
}

func TestErrorsNameNoURL(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	c, err := New(Options{BaseURL: "http://" + addr, Sender: plain()})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Get(t.Context(), "", url.Values{"key": {"hush"}})
	if kindOf(t, err) != Unreachable || UnreachableHost(err) != "127.0.0.1" || strings.Contains(err.Error(), "hush") {
		t.Errorf("error %v", err)
	}
}

func TestTruncatedBodyIsANetworkError(t *testing.T) {
	t.Parallel()
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "short")
		panic(http.ErrAbortHandler)
	}, Options{})
	if _, err := c.Get(t.Context(), "", nil); kindOf(t, err) != Network {
		t.Errorf("error %v", err)
	}
}

// silent is a transport that never responds.
type silent struct{}

func (silent) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestTimeoutAndCancellation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, err := New(Options{BaseURL: "http://example.org", Transport: silent{}, Sender: plain()})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		_, err = c.Get(t.Context(), "", nil)
		if took := time.Since(began); kindOf(t, err) != Timeout || took != DefaultTimeout {
			t.Errorf("%v after %s", err, took)
		}
		gone := errors.New("the runner is gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(gone) })
		began = time.Now()
		_, err = c.Get(ctx, "", nil)
		if took := time.Since(began); !errors.Is(err, gone) || took != time.Second {
			t.Errorf("%v after %s", err, took)
		}
	})
}
