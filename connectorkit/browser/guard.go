package browser

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"

	"github.com/pdpp-go/pdpp/connectorkit/browser/internal/devtools"
	"github.com/pdpp-go/pdpp/connectorkit/publicaddress"
)

const (
	// resolveTimeout bounds how long a document waits for the address of its host.
	resolveTimeout = 10 * time.Second
	// maxHostDistance is the number of links between a host of the manifest and a host that may be loaded. A sign-in
	// provider is often reached through another host of the site.
	maxHostDistance = 3
)

// documentGuard decides which documents the browser may load: those of the manifest's hosts and of hosts that these
// link to, but never those of this machine or its network. So a page that the owner sees and types into cannot lead
// to other places.
type documentGuard struct {
	local   []string
	resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	// onBlocked is called with the host of a document that was not loaded.
	onBlocked func(host string)

	mu    sync.Mutex
	hosts map[string]int // distance from a host of the manifest
}

func newDocumentGuard(hosts, local []string) *documentGuard {
	g := &documentGuard{
		local: local, hosts: map[string]int{}, onBlocked: func(string) {},
		resolve: func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		},
	}
	for _, h := range hosts {
		g.hosts[strings.ToLower(h)] = 0
	}
	for _, place := range local { // a simulated site replaces the manifest's hosts
		if h, _, err := net.SplitHostPort(place); err == nil {
			g.hosts[strings.ToLower(h)] = 0
		}
	}
	return g
}

// allows reports whether a document may be loaded, and returns its host. from is the host of the page or redirect
// that leads to it, or empty for an address that the connector chose.
func (g *documentGuard) allows(ctx context.Context, address, from string) (host string, ok bool) {
	u, err := url.Parse(address)
	if err != nil {
		return "", false
	}
	switch u.Scheme {
	case "about", "blob", "data":
		return "", true // they load nothing from the network
	case "http", "https":
	default:
		return u.Scheme + ":", false
	}
	host = strings.ToLower(u.Hostname())
	if !g.withinReach(host, from) {
		return host, false
	}
	if slices.Contains(g.local, net.JoinHostPort(host, portOf(u))) {
		return host, true
	}
	return host, g.isPublic(ctx, host)
}

// withinReach records the distance of a host and reports whether it is within maxHostDistance.
func (g *documentGuard) withinReach(host, from string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, known := g.hosts[host]; known {
		return true
	}
	distance, known := g.hosts[strings.ToLower(from)]
	if !known || distance >= maxHostDistance {
		return false
	}
	g.hosts[host] = distance + 1
	return true
}

// isPublic reports whether all addresses of a host are public. It accepts a host without an address, for which the
// browser shows its own error page.
func (g *documentGuard) isPublic(ctx context.Context, host string) bool {
	addresses := []netip.Addr{}
	if a, err := netip.ParseAddr(host); err == nil {
		addresses = append(addresses, a)
	} else {
		limited, cancel := context.WithTimeout(ctx, resolveTimeout)
		defer cancel()
		if addresses, err = g.resolve(limited, host); err != nil {
			return limited.Err() == nil
		}
	}
	return !slices.ContainsFunc(addresses, func(a netip.Addr) bool { return !publicaddress.IsPublic(a) })
}

// documentRequests selects the requests that the browser pauses for the guard.
var documentRequests = fetch.EnableParams{Patterns: []*fetch.RequestPattern{
	{ResourceType: network.ResourceTypeDocument, RequestStage: fetch.RequestStageRequest},
}}

// watch decides the document requests of one session of the tab until the session ends.
func (g *documentGuard) watch(ctx context.Context, s *devtools.Session, t *tab) error {
	paused, _ := s.Subscribe(fetch.RequestPaused.Method) // ends with the page
	if _, err := cdp.Call(ctx, s, fetch.Enable, documentRequests); err != nil {
		return err
	}
	t.p.conn.Go(func(ctx context.Context) {
		for raw := range paused {
			var e fetch.EventRequestPaused
			if devtools.Decode(raw, &e) == nil && e.Request != nil {
				g.decide(ctx, s, t, &e)
			}
		}
	})
	return nil
}

// emptyDocument returns a response with an empty document.
func emptyDocument(id fetch.RequestID) fetch.FulfillRequestParams {
	return fetch.FulfillRequestParams{
		RequestID: id, ResponseCode: http.StatusOK,
		ResponseHeaders: []*fetch.HeaderEntry{
			{Name: "Content-Type", Value: "text/plain; charset=utf-8"}, {Name: "Cache-Control", Value: "no-store"},
		},
	}
}

// decide continues, replaces or fails one paused request. It ignores the errors of a page that is gone.
func (g *documentGuard) decide(ctx context.Context, s *devtools.Session, t *tab, e *fetch.EventRequestPaused) {
	ctx, cancel := context.WithTimeout(ctx, 2*resolveTimeout)
	defer cancel()
	if t.isEmptyAt(e.Request.URL) {
		if u, err := url.Parse(e.Request.URL); err == nil {
			t.setHost(strings.ToLower(u.Hostname()))
		}
		_, _ = cdp.Call(ctx, s, fetch.FulfillRequest, emptyDocument(e.RequestID))
		return
	}
	host, ok := g.allows(ctx, e.Request.URL, t.currentHost())
	select {
	case <-t.p.lost(): // the answer is about a lookup that was cancelled
		return
	default:
	}
	if ok {
		if host != "" && string(e.FrameID) == string(t.id) { // the page's own document, not that of a frame
			t.setHost(host)
		}
		_, _ = cdp.Call(ctx, s, fetch.ContinueRequest, fetch.ContinueRequestParams{RequestID: e.RequestID})
		return
	}
	_, _ = cdp.Call(ctx, s, fetch.FailRequest, fetch.FailRequestParams{
		RequestID: e.RequestID, ErrorReason: network.ErrorReasonBlockedByClient})
	g.onBlocked(host)
}
