package governproxy

import (
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// provider answers requests of a test; each call is one transmission.
type provider func(n int, r *http.Request) (status int, header string, err error)

// proxied is a proxy without a socket in front of a provider.
func proxied(answer provider, adjust ...func(*governor.Config)) (*Proxy, *int) {
	sent := 0
	way := governhttp.NewSender(
		governor.New("ledger", append([]func(*governor.Config){func(c *governor.Config) { c.MaxWait = Hold }}, adjust...)...),
		governhttp.SenderOptions{},
	)
	return &Proxy{seen: newRequestLedger(), o: Options{
		Hold: Hold,
		Way: func(host string) *governhttp.Sender {
			if host != "api.ledger.example" {
				return nil
			}
			return way
		},
		Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			sent++
			status, header, err := answer(sent, r)
			if err != nil {
				return nil, err
			}
			h := http.Header{}
			if name, value, ok := strings.Cut(header, ": "); ok {
				h.Set(name, value)
			}
			return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader("body"))}, nil
		}),
	}}, &sent
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func ask(p *Proxy, method, body string) *http.Response {
	w := httptest.NewRecorder()
	p.serveOuter(w, httptest.NewRequest(method, "http://api.ledger.example/v1/pages", strings.NewReader(body)))
	return w.Result()
}

// Requests that only read are retried within the retry budget; others only if the provider did not process them
// and the body is small.
func TestRepeats(t *testing.T) {
	once := func(status int, header string) provider {
		return func(n int, _ *http.Request) (int, string, error) {
			if n == 1 && status == 0 {
				return 0, "", errors.New("connection reset")
			}
			if n == 1 {
				return status, header, nil
			}
			return 200, "", nil
		}
	}
	for _, c := range []struct {
		name, method, body string
		answer             provider
		sent, status       int
	}{
		{"GET after 429", "GET", "", once(429, ""), 2, 200},
		{"GET after 500", "GET", "", once(500, ""), 2, 200},
		{"GET after a broken connection", "GET", "", once(0, ""), 2, 200},
		{"HEAD after 503", "HEAD", "", once(503, ""), 2, 200},
		{"POST after 429", "POST", "small", once(429, ""), 2, 200},
		{"POST after 503", "POST", "small", once(503, ""), 2, 200},
		{"POST after 500", "POST", "small", once(500, ""), 1, 500},
		{"POST after a broken connection", "POST", "small", once(0, ""), 1, 502},
		{"a large POST after 429", "POST", strings.Repeat("x", maxRepeated+1), once(429, ""), 1, 429},
		{"GET after 404", "GET", "", once(404, ""), 1, 404},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, sent := proxied(c.answer)
				if resp := ask(p, c.method, c.body); resp.StatusCode != c.status || *sent != c.sent {
					t.Errorf("status %d after %d transmissions, want %d after %d", resp.StatusCode, *sent, c.status, c.sent)
				}
				refused := map[int]int{}
				if c.status >= 400 && c.status != 502 {
					refused[c.status] = 1
				} else if c.status == 502 {
					refused[0] = 1
				}
				if got := p.Seen().Refused; !maps.Equal(got, refused) {
					t.Errorf("refused: %v, want %v", got, refused)
				}
			})
		})
	}
}

// A body arrives as it was sent, however often.
func TestBodyIsSentWhole(t *testing.T) {
	for _, size := range []int{3, maxRepeated, maxRepeated + 5000} {
		synctest.Test(t, func(t *testing.T) {
			body := strings.Repeat("x", size)
			p, _ := proxied(func(n int, r *http.Request) (int, string, error) {
				got, err := io.ReadAll(r.Body)
				if err != nil || string(got) != body || r.ContentLength != int64(size) {
					t.Errorf("transmission %d has %d bytes, announced %d: %v", n, len(got), r.ContentLength, err)
				}
				return map[bool]int{true: 429, false: 200}[n == 1], "", nil
			})
			ask(p, "POST", body)
		})
	}
}

// A request is held for at most a minute, including the second that a first request waits. Then the program gets
// the time to wait.
func TestHold(t *testing.T) {
	for _, c := range []struct {
		name, header string
		status       int
		held         time.Duration
		left         string
	}{
		{"a short wish is waited out", "Retry-After: 20", 200, 21 * time.Second, ""},
		{"a long one is answered with what is left", "Retry-After: 300", 429, time.Minute, "241"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, _ := proxied(func(n int, _ *http.Request) (int, string, error) {
					if n == 1 {
						return 429, c.header, nil
					}
					return 200, "", nil
				})
				began := time.Now()
				resp := ask(p, "GET", "")
				held := time.Since(began).Round(time.Second)
				if resp.StatusCode != c.status || held != c.held || resp.Header.Get("Retry-After") != c.left {
					t.Errorf(
						"%d after %v, Retry-After %q; want %d after %v, %q",
						resp.StatusCode,
						held,
						resp.Header.Get("Retry-After"),
						c.status,
						c.held,
						c.left,
					)
				}
				if c.left == "" {
					return
				}
				// The next one is not even sent before that time.
				if resp := ask(p, "GET", ""); resp.StatusCode != 429 || resp.Header.Get("Retry-After") != "181" {
					t.Errorf("the next: %d, Retry-After %q", resp.StatusCode, resp.Header.Get("Retry-After"))
				}
			})
		})
	}
}

// A request that the program retries with success does not count as lost.
func TestRepeatedBySelf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := proxied(func(n int, _ *http.Request) (int, string, error) {
			if n == 1 {
				return 404, "", nil
			}
			return 200, "", nil
		})
		ask(p, "GET", "")
		if got := p.Seen(); got.Refused[404] != 1 || got.Last != 404 {
			t.Errorf("%+v", got)
		}
		ask(p, "GET", "")
		if got := p.Seen(); len(got.Refused) != 0 || got.Requests != 2 || got.Last != 200 {
			t.Errorf("%+v", got)
		}
	})
}

// Another host is refused without a request.
func TestElsewhere(t *testing.T) {
	p, sent := proxied(func(int, *http.Request) (int, string, error) { return 200, "", nil })
	w := httptest.NewRecorder()
	p.serveOuter(w, httptest.NewRequest("GET", "http://telemetry.example/", nil))
	if got := p.Seen(); w.Code != 403 || *sent != 0 || len(got.Elsewhere) != 1 || got.Elsewhere[0] != "telemetry.example" {
		t.Errorf("%d, %d transmissions, %+v", w.Code, *sent, got)
	}
}

// The provider's own headers arrive, and those of a connection do not.
func TestHeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := proxied(func(_ int, r *http.Request) (int, string, error) {
			if r.Header.Get("Proxy-Authorization") != "" || r.Header.Get("Authorization") != "Bearer tok" {
				t.Errorf("headers: %v", r.Header)
			}
			return 200, "X-Next: 2", nil
		})
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", "http://API.ledger.example:80/", nil)
		r.Header.Set("Proxy-Authorization", "Basic x")
		r.Header.Set("Authorization", "Bearer tok")
		p.serveOuter(w, r)
		if w.Code != 200 || w.Header().Get("X-Next") != "2" {
			t.Errorf("%d, %v", w.Code, w.Header())
		}
	})
}
