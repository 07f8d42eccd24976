package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/foreign/governproxy"
	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// A provider that lets five requests a second pass, five at once, and refuses the others by a
// bare 429; and a tap that asks it for 120 pages, one after the other.
const (
	hiddenRate    = 5.0
	hiddenBurst   = 5.0
	hiddenPages   = 120
	hiddenBestFor = (hiddenPages - hiddenBurst) / hiddenRate // seconds
)

// hidden is that provider.
type hidden struct {
	*httptest.Server
	mu      sync.Mutex
	tokens  float64
	at      time.Time
	refused int
}

func newHidden(encrypted bool) *hidden {
	h := &hidden{tokens: hiddenBurst, at: time.Now()}
	h.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !h.admits() {
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		_, _ = io.WriteString(w, `{"id":1}`)
	}))
	if encrypted {
		h.StartTLS()
	} else {
		h.Start()
	}
	return h
}

func (h *hidden) admits() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	h.tokens, h.at = min(hiddenBurst, h.tokens+hiddenRate*now.Sub(h.at).Seconds()), now
	if h.tokens < 1 {
		h.refused++
		return false
	}
	h.tokens--
	return true
}

// tapPages asks for all pages. Refused, it waits as taps do by the library that most of them use:
// a random part of two seconds, of twice as much the next time, and so on.
func tapPages(ctx context.Context, client *http.Client, base string) error {
	for n := range hiddenPages {
		for pause := 2 * time.Second; ; pause *= 2 {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/pages/%d", base, n), nil)
			if err != nil {
				return err
			}
			resp, err := client.Do(req)
			if err != nil {
				return err
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				break
			}
			if pause > time.Minute {
				return fmt.Errorf("page %d is refused for good: %d", n, resp.StatusCode)
			}
			select {
			case <-time.After(rand.N(pause)):
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
	return nil
}

// tapped is one run of the tap.
type tapped struct {
	seconds float64
	refused int
	learned map[string]float64
}

// alone runs the tap directly against the provider, without the proxy.
func alone(ctx context.Context, encrypted bool) (tapped, error) {
	h := newHidden(encrypted)
	defer h.Close()
	began := time.Now()
	err := tapPages(ctx, h.Client(), h.URL)
	return tapped{seconds: time.Since(began).Seconds(), refused: h.refused}, err
}

// governed leads the tap through the proxy, with what an earlier run learned, as a bookmark
// carries it.
func governed(ctx context.Context, dir string, encrypted bool, adjust func(*governor.Config),
	learned map[string]float64) (tapped, error) {
	h := newHidden(encrypted)
	defer h.Close()
	g := governor.New("hidden", adjust, func(c *governor.Config) {
		c.MaxWait = governproxy.Hold
		if l, ok := governor.RestoreLearned(learned, time.Now()); ok {
			c.Learned = &l
		}
	})
	way := governhttp.NewSender(g, governhttp.SenderOptions{})
	p, err := governproxy.StartProxy(governproxy.Options{Way: func(string) *governhttp.Sender { return way },
		Transport: h.Client().Transport})
	if err != nil {
		return tapped{}, err
	}
	defer p.Close()
	client, err := clientOf(p, dir)
	if err != nil {
		return tapped{}, err
	}
	defer client.CloseIdleConnections()
	began := time.Now()
	err = tapPages(ctx, client, h.URL)
	out := tapped{seconds: time.Since(began).Seconds(), refused: h.refused}
	if l, ok := g.Snapshot(time.Now()); ok {
		out.learned = l.Fields()
	}
	return out, err
}

// clientOf returns a client configured by the environment variables that a tap receives.
func clientOf(p *governproxy.Proxy, dir string) (*http.Client, error) {
	own, err := os.MkdirTemp(dir, "tap-")
	if err != nil {
		return nil, err
	}
	env, err := p.Environment(own, p.Port())
	if err != nil {
		return nil, err
	}
	vars := map[string]string{}
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		vars[name] = value
	}
	at, err := url.Parse(vars["HTTPS_PROXY"])
	if err != nil {
		return nil, err
	}
	cert, err := os.ReadFile(vars["SSL_CERT_FILE"])
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(cert)
	return &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(at),
		TLSClientConfig: &tls.Config{RootCAs: roots}}}, nil
}

// tapApproaches are how the proxy is set, with what is expected of the first run and of the next.
var tapApproaches = []struct {
	name        string
	adjust      func(*governor.Config)
	first, next float64 // of the best time
	refused     float64 // per thousand, of the first run
}{
	{"default ceiling", func(*governor.Config) {}, 0.62, 0.70, 0},
	{"ceiling 50/s", func(c *governor.Config) { c.Ceiling, c.Discovery = 20*time.Millisecond, 250*time.Millisecond }, 0.48,
		0.85, 20},
}

// measureForeign runs an unmodified tap through the governing proxy, plain and inspected. It
// compares the time with the optimum under the provider's limit and with the same tap without the
// proxy. All variants mostly wait, so they run in parallel.
func measureForeign(ctx context.Context, _ config, dir string, r *report) error {
	type row struct{ limited }
	var (
		wait  sync.WaitGroup
		mu    sync.Mutex
		found = map[string][]row{}
		fault error
	)
	note := func(name string, rows []row, err error) {
		mu.Lock()
		defer mu.Unlock()
		found[name] = rows
		if err != nil && fault == nil {
			fault = fmt.Errorf("foreign, %s: %w", name, err)
		}
	}
	perThousand := func(refused int) float64 { return 1000 * float64(refused) / hiddenPages }
	var order []string
	for _, encrypted := range []bool{false, true} {
		for _, a := range tapApproaches {
			name := "foreign, " + map[bool]string{false: "plain", true: "inspected"}[encrypted] + ", " + a.name
			order = append(order, name)
			wait.Go(func() {
				by, err := alone(ctx, encrypted)
				var first, next tapped
				if err == nil {
					first, err = governed(ctx, dir, encrypted, a.adjust, nil)
				}
				if err == nil {
					next, err = governed(ctx, dir, encrypted, a.adjust, first.learned)
				}
				base := limited{Rate: hiddenRate, UnpacedRatio: hiddenBestFor / by.seconds, UnpacedRefused: perThousand(by.refused)}
				one, two := base, base
				one.Name, one.Ratio, one.Want, one.Refused, one.WantRefused = name+": first", hiddenBestFor/first.seconds, a.first,
					perThousand(first.refused), a.refused
				two.Name, two.Ratio, two.Want, two.Refused = name+": next", hiddenBestFor/next.seconds, a.next,
					perThousand(next.refused)
				note(name, []row{{one}, {two}}, err)
			})
		}
	}
	wait.Wait()
	if fault != nil {
		return fault
	}
	for _, name := range order {
		for _, x := range found[name] {
			r.limit(x.limited)
		}
	}
	return nil
}
