package browser

import (
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Kinds of requests that a page can send. Each resolves when it is known whether it arrived.
const sendAll = `async (to) => {
	const element = (name, set) => new Promise(done => {
		const e = document.createElement(name);
		e.onload = e.onerror = done;
		set(e);
		document.body.append(e);
	});
	const socket = (make, ...ends) => new Promise(done => {
		const s = make();
		for (const end of ends) s["on" + end] = done;
	});
	await Promise.all([
		fetch(to + "/fetch", {mode: "no-cors"}).catch(() => {}),
		fetch(to + "/post", {mode: "no-cors", method: "POST", body: "x"}).catch(() => {}),
		element("img", e => e.src = to + "/image"),
		element("script", e => e.src = to + "/script"),
		element("link", e => { e.rel = "stylesheet"; e.href = to + "/style"; }),
		socket(() => new WebSocket(to.replace("http", "ws") + "/socket"), "error", "open"),
		socket(() => new EventSource(to + "/events"), "error", "open"),
	]);
	navigator.sendBeacon(to + "/beacon", "x");
	await fetch("/rest");
	return "";
}`

// A page of the Internet sends nothing to this machine, in whatever kind of request. A page of this machine, which
// only a simulated site is, does: so the requests of the test do arrive where nothing refuses them.
func TestPagesReachNothingOfThisMachine(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	reached := map[string]bool{}
	inside := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		reached[strings.Trim(r.URL.Path, "/")] = true
	}))
	defer inside.Close()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/public" {
			w.Header().Set("Content-Security-Policy", "treat-as-public-address")
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<p>site"))
	}))
	defer site.Close()
	p := started(t, room(t))
	ctx := within(t, time.Minute)
	place := strings.TrimPrefix(site.URL, "http://")
	tabs, err := p.attachPages(ctx, newDocumentGuard(nil, []string{place}))
	must(t, err)
	tab, err := tabs.firstTab(ctx)
	must(t, err)
	// a beacon has no end that a page sees
	all := []string{"events", "fetch", "image", "post", "script", "socket", "style"}
	// in this order: a local page asks again later
	for _, path := range []string{"/public", "/local"} {
		var want []string
		if path == "/local" {
			want = all
		}
		mu.Lock()
		clear(reached)
		mu.Unlock()
		must(t, tab.load(ctx, site.URL+path))
		var nothing string
		must(t, tab.call(ctx, sendAll, &nothing, inside.URL))
		mu.Lock()
		delete(reached, "favicon.ico")
		if want != nil {
			delete(reached, "beacon")
		}
		if got := slices.Sorted(maps.Keys(reached)); !slices.Equal(got, want) {
			t.Errorf("from %s: %v, want %v", path, got, want)
		}
		mu.Unlock()
	}
}

// A browser that does not keep pages from this machine's network is not used.
func TestOldBrowserIsRefused(t *testing.T) {
	for product, ok := range map[string]bool{"Chrome/147.0.1.2": true, "HeadlessChrome/156.0.8078.79": true,
		"Chrome/146.9.9.9": false, "Chrome/99.1": false, "Chrome": false, "": false} {
		if err := checkVersion(product); (err == nil) != ok || err != nil && !errors.Is(err, errTooOld) {
			t.Errorf("%s: %v", product, err)
		}
	}
}
