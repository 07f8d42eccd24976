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
)

const (
	// resolveLimit bounds how long a document waits for its host's address.
	resolveLimit = 10 * time.Second
	// farthest is how many hosts may lie between one that the manifest names and one that is
	// shown: a sign-in provider is often reached through the site's own host for that.
	farthest = 3
)

// guard decides which documents the browser may load: those of the hosts that the manifest
// names and of hosts that these send to, and never those of this machine or its network. A
// page that the owner sees in full, and may type into, leads nowhere else.
type guard struct {
	local   []string
	resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	// blocked is told of a document that was not loaded.
	blocked func(host string)

	mu    sync.Mutex
	hosts map[string]int // how far a host is from a named one
}

func newGuard(hosts, local []string) *guard {
	g := &guard{
		local: local, hosts: map[string]int{}, blocked: func(string) {},
		resolve: func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		},
	}
	for _, h := range hosts {
		g.hosts[strings.ToLower(h)] = 0
	}
	for _, place := range local { // a simulated site stands for those of the manifest
		if h, _, err := net.SplitHostPort(place); err == nil {
			g.hosts[strings.ToLower(h)] = 0
		}
	}
	return g
}

// allows tells whether a document may be loaded; from is the host of the page, or of the
// redirect, that leads there, and empty for an address of the connector's own.
func (g *guard) allows(ctx context.Context, address, from string) (host string, ok bool) {
	u, err := url.Parse(address)
	if err != nil {
		return "", false
	}
	switch u.Scheme {
	case "about", "blob", "data":
		return "", true // they bring nothing from outside
	case "http", "https":
	default:
		return u.Scheme + ":", false
	}
	host = strings.ToLower(u.Hostname())
	if !g.reach(host, from) {
		return host, false
	}
	if slices.Contains(g.local, net.JoinHostPort(host, port(u))) {
		return host, true
	}
	return host, g.public(ctx, host)
}

// reach notes how far a host is from a named one, and tells whether that is near enough.
func (g *guard) reach(host, from string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, known := g.hosts[host]; known {
		return true
	}
	distance, known := g.hosts[strings.ToLower(from)]
	if !known || distance >= farthest {
		return false
	}
	g.hosts[host] = distance + 1
	return true
}

// public tells whether a host has addresses on the Internet alone. One without an address is
// left to the browser, which says so to the owner.
func (g *guard) public(ctx context.Context, host string) bool {
	addresses := []netip.Addr{}
	if a, err := netip.ParseAddr(host); err == nil {
		addresses = append(addresses, a)
	} else {
		limited, cancel := context.WithTimeout(ctx, resolveLimit)
		defer cancel()
		if addresses, err = g.resolve(limited, host); err != nil {
			return limited.Err() == nil
		}
	}
	return !slices.ContainsFunc(addresses, private)
}

// shared are addresses that a provider of access uses behind its own.
var shared = netip.MustParsePrefix("100.64.0.0/10")

func private(a netip.Addr) bool {
	a = a.Unmap()
	return !a.IsGlobalUnicast() || a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() || shared.Contains(a)
}

// documents are the requests that the guard is asked about.
var documents = fetch.EnableParams{Patterns: []*fetch.RequestPattern{{ResourceType: network.ResourceTypeDocument, RequestStage: fetch.RequestStageRequest}}}

// watch answers for the documents of one session of the tab until it is gone.
func (g *guard) watch(ctx context.Context, s *session, t *tab) error {
	paused, _ := s.Subscribe(fetch.RequestPaused.Method) // it ends with the page
	if _, err := cdp.Call(ctx, s, fetch.Enable, documents); err != nil {
		return err
	}
	go func() {
		for raw := range paused {
			var e fetch.EventRequestPaused
			if decode(raw, &e) == nil && e.Request != nil {
				g.judge(s, t, &e)
			}
		}
	}()
	return nil
}

// emptyText answers a request with a document that holds nothing.
func emptyText(id fetch.RequestID) fetch.FulfillRequestParams {
	return fetch.FulfillRequestParams{
		RequestID: id, ResponseCode: http.StatusOK,
		ResponseHeaders: []*fetch.HeaderEntry{{Name: "Content-Type", Value: "text/plain; charset=utf-8"}, {Name: "Cache-Control", Value: "no-store"}},
	}
}

func (g *guard) judge(s *session, t *tab, e *fetch.EventRequestPaused) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*resolveLimit)
	defer cancel()
	if t.standsAt(e.Request.URL) {
		if u, err := url.Parse(e.Request.URL); err == nil {
			t.moved(strings.ToLower(u.Hostname()))
		}
		_, _ = cdp.Call(ctx, s, fetch.FulfillRequest, emptyText(e.RequestID)) // a page that is gone needs none
		return
	}
	host, ok := g.allows(ctx, e.Request.URL, t.at())
	if ok {
		if host != "" && string(e.FrameID) == string(t.id) { // the page's own document, not a frame's
			t.moved(host)
		}
		_, _ = cdp.Call(ctx, s, fetch.ContinueRequest, fetch.ContinueRequestParams{RequestID: e.RequestID}) // a page that is gone needs none
		return
	}
	_, _ = cdp.Call(ctx, s, fetch.FailRequest, fetch.FailRequestParams{RequestID: e.RequestID, ErrorReason: network.ErrorReasonBlockedByClient})
	g.blocked(host)
}
