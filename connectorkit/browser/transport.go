package browser

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"

	"github.com/pdpp-go/pdpp/connectorkit/browser/internal/devtools"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

const (
	// fetchLimit bounds a request within the page; outside of it there is more by fetchGrace,
	// for a page that does not even get to its timer.
	fetchLimit = 90 * time.Second
	fetchGrace = 5 * time.Second
	// maxSent bounds the body of a request.
	maxSent = 4 << 20
	// tidyEvery is after how many requests the page's script clears up: each leaves some 20 KB,
	// which it would do only after thousands.
	tidyEvery = 100
)

// Requests are the page's own and only read; the browser sets what identifies it.
var (
	allowedMethods = []string{http.MethodGet, http.MethodHead, http.MethodPost}
	allowedHeaders = []string{"Accept", "Accept-Language", "Authorization", "Content-Type", "If-Modified-Since",
		"If-None-Match", "X-Requested-With"}
)

// pageTransport sends requests from a bare document of the site: with its cookies, its origin
// and the browser's own headers, and without the site's scripts, its policy for contents
// and what they would send besides. It is safe for concurrent use.
type pageTransport struct {
	home    *url.URL // origin
	quiet   string   // address of the bare document
	headers []string
	limit   int64 // bytes of an answer's body

	open    func(context.Context) (*tab, error)
	ended   error         // what a request gets when there is no browser any more
	loading chan struct{} // held while the empty document is loaded

	mu      sync.Mutex
	tab     *tab
	ready   bool // the tab shows the bare document, as far as we know
	crashes int
	last    int64
}

func newPageTransport(site Site, t *tab, open func(context.Context) (*tab, error)) (*pageTransport, error) {
	home, err := siteOrigin(site.Home)
	if err != nil {
		return nil, fmt.Errorf("the site's home: %w", err)
	}
	path := site.Quiet
	if path == "" {
		path = "/robots.txt"
	}
	quiet, err := home.Parse(path)
	if err != nil || !sameOrigin(quiet, home) {
		return nil, errors.New("the site's quiet document must be one of its home")
	}
	headers := slices.Clone(allowedHeaders)
	for _, name := range site.Headers {
		headers = append(headers, http.CanonicalHeaderKey(name))
	}
	return &pageTransport{
		home: home, quiet: quiet.String(), headers: headers, limit: governhttp.DefaultMaxBody + 1,
		tab: t, open: open, ended: governhttp.ErrUnusable, loading: make(chan struct{}, 1),
	}, nil
}

func siteOrigin(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("an absolute address, http or https")
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/"}, nil
}

func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && portOf(a) == portOf(b)
}

func portOf(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	if u.Scheme == "https" {
		return "443"
	}
	return "80"
}

// fetchFunction sends the request within the page. It reads the body up to the limit and returns text as text.
const fetchFunction = `async (id, method, url, headers, body, coded, timeout, limit) => {
	const stops = globalThis.pdppStops ??= new Map();
	const stop = new AbortController();
	stops.set(id, stop);
	const timer = setTimeout(() => stop.abort(), timeout);
	try {
		let sent;
		if (body !== null) sent = coded ? Uint8Array.from(atob(body), c => c.charCodeAt(0)) : body;
		const got = await fetch(url, {method, headers, body: sent, credentials: "include", redirect: "manual",
			cache: "no-store", signal: stop.signal});
		if (got.type === "opaqueredirect") return {redirected: true};
		const parts = [];
		let size = 0, cut = false;
		if (got.body) {
			const reader = got.body.getReader();
			for (;;) {
				const {done, value} = await reader.read();
				if (done) break;
				const left = limit - size;
				parts.push(value.length > left ? value.subarray(0, left) : value);
				size += Math.min(value.length, left);
				if (value.length > left) { cut = true; stop.abort(); break; }
			}
		}
		const whole = new Uint8Array(size);
		let at = 0;
		for (const part of parts) { whole.set(part, at); at += part.length; }
		const answer = {status: got.status, headers: [...got.headers], cut};
		try {
			answer.text = new TextDecoder("utf-8", {fatal: true, ignoreBOM: true}).decode(whole);
		} catch {
			let coded = "";
			for (let i = 0; i < whole.length; i += 32766) coded += btoa(String.fromCharCode(...whole.subarray(i, i + 32766)));
			answer.base64 = coded;
		}
		return answer;
	} catch (e) {
		return {failed: stop.signal.aborted ? "timeout" : "network"};
	} finally {
		clearTimeout(timer);
		stops.delete(id);
	}
}`

const stopFunction = `id => { globalThis.pdppStops?.get(id)?.abort(); }`

// fetchedResponse is what fetchFunction returns.
type fetchedResponse struct {
	Status     int         `json:"status"`
	Headers    [][2]string `json:"headers"`
	Text       string      `json:"text"`
	Base64     string      `json:"base64"`
	Cut        bool        `json:"cut"`
	Redirected bool        `json:"redirected"`
	Failed     string      `json:"failed"`
}

var (
	errNetwork  = errors.New("the page could not reach the site")
	errTimeout  = fmt.Errorf("the site did not answer the page: %w", context.DeadlineExceeded)
	errReplaced = errors.New("the page was replaced while it asked")
)

// RoundTrip sends one request. A redirect becomes a response 302 without Location, because a page cannot see where it
// leads. Reading a body beyond the limit returns an error.
func (t *pageTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		defer req.Body.Close()
	}
	headers, err := t.checkRequest(req)
	if err != nil {
		return nil, err
	}
	body, coded, err := requestBody(req)
	if err != nil {
		return nil, err
	}
	ctx := req.Context()
	page, err := t.emptyPage(ctx)
	if errors.Is(err, devtools.ErrLost) {
		return nil, t.ended
	}
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	t.last++
	id, tidy := strconv.FormatInt(t.last, 10), t.last%tidyEvery == 0
	t.mu.Unlock()
	if tidy {
		page.s.Post(heapprofiler.CollectGarbage.Method, cdp.Empty{})
	}
	limited, cancel := context.WithTimeoutCause(ctx, fetchLimit+fetchGrace, errTimeout)
	defer cancel()
	var got fetchedResponse
	err = page.call(limited, fetchFunction, &got, id, req.Method, req.URL.String(), headers, body, coded,
		fetchLimit.Milliseconds(), t.limit)
	switch {
	case err != nil && limited.Err() != nil:
		t.abandon(page, id)
		return nil, context.Cause(limited)
	case err != nil:
		return nil, t.requestError(page, err)
	case got.Failed == "timeout":
		return nil, errTimeout
	case got.Failed != "":
		return nil, errNetwork
	}
	return got.response(req)
}

// checkRequest holds a request to what the page may send.
func (t *pageTransport) checkRequest(req *http.Request) ([][2]string, error) {
	if !slices.Contains(allowedMethods, req.Method) {
		return nil, fmt.Errorf("a page sends %s, not %s", strings.Join(allowedMethods, ", "), req.Method)
	}
	if !sameOrigin(req.URL, t.home) || req.Host != "" && !strings.EqualFold(req.Host, req.URL.Host) {
		return nil, errors.New("a page sends requests to its own site alone")
	}
	headers := [][2]string{}
	for name, values := range req.Header {
		if !slices.Contains(t.headers, http.CanonicalHeaderKey(name)) {
			return nil, fmt.Errorf("header %s is the browser's own; one of the site's belongs into Site.Headers", name)
		}
		for _, v := range values {
			headers = append(headers, [2]string{name, v})
		}
	}
	return headers, nil
}

// requestBody reads a request's body: nil for none, text as it is, anything else coded.
func requestBody(req *http.Request) (body *string, coded bool, err error) {
	if req.Body == nil || req.Body == http.NoBody {
		return nil, false, nil
	}
	b, err := io.ReadAll(io.LimitReader(req.Body, maxSent+1))
	switch {
	case err != nil:
		return nil, false, fmt.Errorf("read the request's body: %w", err)
	case len(b) > maxSent:
		return nil, false, fmt.Errorf("request body exceeds %d bytes", maxSent)
	case len(b) == 0:
		return nil, false, nil
	}
	text := string(b)
	if coded = !utf8.Valid(b); coded {
		text = base64.StdEncoding.EncodeToString(b)
	}
	return &text, coded, nil
}

// emptyPage returns the tab with the empty document. It reloads the document without a request when the tab has left
// it.
func (t *pageTransport) emptyPage(ctx context.Context) (*tab, error) {
	select {
	case t.loading <- struct{}{}:
		defer func() { <-t.loading }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	t.mu.Lock()
	tab, ready := t.tab, t.ready
	t.mu.Unlock()
	if ready && tab.alive() {
		return tab, nil
	}
	if !tab.alive() {
		fresh, err := t.open(ctx)
		if err != nil {
			return nil, err
		}
		tab = fresh
	}
	if err := tab.loadEmpty(ctx, t.quiet); err != nil {
		return nil, err
	}
	at, err := tab.address(ctx)
	if err != nil {
		return nil, err
	}
	if !sameOrigin(at, t.home) {
		return nil, errors.New("the site's quiet document leads elsewhere")
	}
	t.mu.Lock()
	t.tab, t.ready = tab, true
	t.mu.Unlock()
	return tab, nil
}

// requestError notes that the page was lost, so that the next request brings it back. A page that
// crashes twice, and a browser that is gone, end the transport.
func (t *pageTransport) requestError(page *tab, err error) error {
	if errors.Is(err, devtools.ErrLost) {
		return t.ended
	}
	if !contextDestroyed(err) {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tab == page {
		t.ready = false
	}
	if page.crashed() {
		t.crashes++
	}
	if t.crashes > 1 {
		return t.ended
	}
	return errReplaced
}

// abandon makes the page abort a request with no caller.
func (t *pageTransport) abandon(page *tab, id string) {
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), fetchGrace)
		defer cancel()
		_ = page.call(ctx, stopFunction, nil, id) // a page that does not answer has its own timer
	}()
}

func (f *fetchedResponse) response(req *http.Request) (*http.Response, error) {
	if f.Redirected {
		f.Status = http.StatusFound
	}
	resp := &http.Response{
		Status: fmt.Sprintf("%d %s", f.Status, http.StatusText(f.Status)), StatusCode: f.Status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}, Request: req, ContentLength: -1,
	}
	for _, h := range f.Headers {
		resp.Header.Add(h[0], h[1])
	}
	// The body is decoded already.
	resp.Header.Del("Content-Encoding")
	resp.Header.Del("Content-Length")
	if f.Redirected {
		resp.Header.Del("Location")
	}
	body := []byte(f.Text)
	if f.Base64 != "" {
		b, err := base64.StdEncoding.DecodeString(f.Base64)
		if err != nil {
			return nil, fmt.Errorf("read the answer's body: %w", err)
		}
		body = b
	}
	var r io.Reader = bytes.NewReader(body)
	if f.Cut {
		r = io.MultiReader(r, failingReader{errBodyTooLarge})
	}
	resp.Body = io.NopCloser(r)
	return resp, nil
}

var errBodyTooLarge = errors.New("the answer's body is too large")

type failingReader struct{ err error }

func (f failingReader) Read([]byte) (int, error) { return 0, f.err }
