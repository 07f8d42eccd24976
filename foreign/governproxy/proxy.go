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

	"pdpp/governor/governhttp"
)

// Hold is how long a request is kept waiting at most: programs time out.
const Hold = time.Minute

// Options describe a proxy. Way is required.
type Options struct {
	// Way gives the governed way to a host, which has its port unless that is the scheme's own;
	// nil refuses the host. It gives the same one for every host of a provider.
	Way func(host string) *governhttp.Sender
	// Blind lets TLS through unread.
	Blind bool
	// Transport carries the requests; nil means the network.
	Transport http.RoundTripper
	// Dial makes the connections of tunnels; nil means over the network.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Place returns where the program is at the moment, as its caller counts; nil means nowhere.
	Place func() int64
	// Hold overrides how long a request is kept waiting.
	Hold time.Duration
}

// Proxy is a proxy at work.
type Proxy struct {
	o         Options
	port      int          // of loopback, if it listens there
	server    *http.Server // of the connections from the program
	inner     *http.Server // of what is inside of its tunnels
	tunnelled *handedOver
	authority *authority
	seen      ledger

	mu     sync.Mutex
	pinned map[string]bool // hosts for which the program did not accept our certificate
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
	p := &Proxy{o: o, pinned: map[string]bool{}, seen: newLedger()}
	p.tunnelled = newHandedOver(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	var err error
	if p.authority, err = newAuthority(); err != nil {
		return nil, fmt.Errorf("make the run's certificate: %w", err)
	}
	p.server = &http.Server{Handler: http.HandlerFunc(p.outer), ReadHeaderTimeout: time.Minute}
	p.inner = &http.Server{Handler: http.HandlerFunc(p.within), ReadHeaderTimeout: time.Minute, ConnContext: contextOf}
	go func() { _ = p.inner.Serve(p.tunnelled) }() // ends by Close
	return p, nil
}

// place returns where the program is.
func (p *Proxy) place() int64 {
	if p.o.Place == nil {
		return 0
	}
	return p.o.Place()
}

// Start returns a proxy that listens on a port of loopback.
func Start(o Options) (*Proxy, error) {
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

// Seen is what became of the requests so far.
func (p *Proxy) Seen() Seen { return p.seen.sum() }

// outer serves the program's own connections: plain requests, and wishes for a tunnel.
func (p *Proxy) outer(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodConnect:
		p.tunnel(w, r)
	case r.URL.Host == "":
		http.Error(w, "this is a proxy: ask for a whole address", http.StatusBadRequest)
	default:
		p.pass(w, r, r.URL.Scheme, r.URL.Host)
	}
}

// within serves what comes through a tunnel that is inspected.
func (p *Proxy) within(w http.ResponseWriter, r *http.Request) {
	to := destinationOf(r.Context())
	p.pass(w, r, to.scheme, to.host)
}

// hostOf spells a host without the scheme's own port.
func hostOf(scheme, host string) string {
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

// allowed gives the way to a host. One that there is none to is noted and refused.
func (p *Proxy) allowed(w http.ResponseWriter, scheme, host string) (*governhttp.Sender, bool) {
	host = hostOf(scheme, host)
	way := p.o.Way(host)
	if way == nil {
		p.seen.elsewhere(host)
		http.Error(w, "this program may not reach that host", http.StatusForbidden)
		return nil, false
	}
	p.seen.host(host)
	return way, true
}
