package governproxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// Hold is how long a request waits at most, because programs time out.
const Hold = time.Minute

// Options configures a proxy. Way is required.
type Options struct {
	// Way returns the sender for a host, which includes its port unless that is the scheme's default. Nil refuses
	// the host. It returns the same sender for every host of a provider.
	Way func(host string) *governhttp.Sender
	// Blind forwards TLS without inspection.
	Blind bool
	// Transport carries the requests; nil means the network.
	Transport http.RoundTripper
	// Dial makes the connections of tunnels; nil means over the network.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Place returns the current position of the program, as counted by the caller. Nil means unknown.
	Place func() int64
	// Hold overrides how long a request is kept waiting.
	Hold time.Duration
}

// Proxy is a running proxy.
type Proxy struct {
	o         Options
	port      int          // on loopback, after Listen
	server    *http.Server // for connections from the program
	inner     *http.Server // for requests inside tunnels
	tunnelled *connListener
	authority *certAuthority
	seen      requestLedger

	mu     sync.Mutex
	pinned map[string]bool // hosts for which the program rejected our certificate
}

// New returns a proxy that does not listen yet.
func New(o Options) (*Proxy, error) {
	if o.Hold <= 0 {
		o.Hold = Hold
	}
	if o.Transport == nil {
		own := http.DefaultTransport.(*http.Transport).Clone()
		own.Proxy, own.DisableCompression, own.ResponseHeaderTimeout = nil, true, 5*time.Minute
		o.Transport = own
	}
	if o.Dial == nil {
		o.Dial = (&net.Dialer{Timeout: 10 * time.Second}).DialContext
	}
	p := &Proxy{o: o, pinned: map[string]bool{}, seen: newRequestLedger()}
	p.tunnelled = newHandedOver(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	var err error
	if p.authority, err = newAuthority(); err != nil {
		return nil, fmt.Errorf("make the run's certificate: %w", err)
	}
	p.server = &http.Server{Handler: http.HandlerFunc(p.serveOuter), ReadHeaderTimeout: time.Minute}
	p.inner = &http.Server{
		Handler:           http.HandlerFunc(p.serveInner),
		ReadHeaderTimeout: time.Minute,
		ConnContext:       connContext,
	}
	go func() { _ = p.inner.Serve(p.tunnelled) }() // Close ends it
	return p, nil
}

// place returns the current position of the program.
func (p *Proxy) place() int64 {
	if p.o.Place == nil {
		return 0
	}
	return p.o.Place()
}

// StartProxy returns a proxy that listens on a port of loopback.
func StartProxy(o Options) (*Proxy, error) {
	p, err := New(o)
	if err != nil {
		return nil, err
	}
	if err := p.Listen(); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// Listen accepts connections on a port of loopback, which every program of this machine can reach.
func (p *Proxy) Listen() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	p.port = l.Addr().(*net.TCPAddr).Port
	p.Serve(l)
	return nil
}

// Serve accepts connections from the listener, which Close closes.
func (p *Proxy) Serve(l net.Listener) {
	go func() { _ = p.server.Serve(l) }()
}

// Port returns the port of loopback that Listen has opened.
func (p *Proxy) Port() int { return p.port }

// Close ends the proxy and every connection.
func (p *Proxy) Close() error {
	return errors.Join(p.server.Close(), p.inner.Close(), p.tunnelled.Close())
}

// Seen returns the results of the requests so far.
func (p *Proxy) Seen() Seen { return p.seen.sum() }

// serveOuter serves the program's own connections: plain requests, and CONNECT.
func (p *Proxy) serveOuter(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodConnect:
		p.tunnel(w, r)
	case r.URL.Host == "":
		http.Error(w, "this is a proxy: ask for a whole address", http.StatusBadRequest)
	default:
		p.forward(w, r, r.URL.Scheme, r.URL.Host)
	}
}

// serveInner serves requests from an inspected tunnel.
func (p *Proxy) serveInner(w http.ResponseWriter, r *http.Request) {
	to := destinationOf(r.Context())
	p.forward(w, r, to.scheme, to.host)
}

// withoutDefaultPort returns a host without the default port of the scheme.
func withoutDefaultPort(scheme, host string) string {
	host = strings.ToLower(host)
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		return strings.Trim(host, "[]")
	}
	if scheme == "http" && port == "80" || scheme == "https" && port == "443" {
		return name
	}
	return net.JoinHostPort(name, port)
}

// senderFor returns the sender for a host. A host without one is recorded and refused.
func (p *Proxy) senderFor(w http.ResponseWriter, scheme, host string) (*governhttp.Sender, bool) {
	host = withoutDefaultPort(scheme, host)
	way := p.o.Way(host)
	if way == nil {
		p.seen.elsewhere(host)
		http.Error(w, "this program may not reach that host", http.StatusForbidden)
		return nil, false
	}
	p.seen.host(host)
	return way, true
}
