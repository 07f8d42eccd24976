package governhttp

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

const (
	// connectTimeout bounds name resolution and connecting, and then the TLS handshake. A host that takes longer
	// counts as unreachable.
	connectTimeout = 8 * time.Second
	// unreachableFor is how long an unreachable host is not tried again. Requests fail at once during that time.
	unreachableFor = time.Minute
)

// newTransport returns a client's own transport. It keeps one idle connection per slot.
func newTransport(
	connections int,
	dial func(ctx context.Context, network, address string) (net.Conn, error),
) http.RoundTripper {
	if dial == nil {
		dial = (&net.Dialer{KeepAlive: 30 * time.Second}).DialContext
	}
	own := http.DefaultTransport.(*http.Transport).Clone()
	own.MaxIdleConnsPerHost, own.TLSHandshakeTimeout = connections, connectTimeout
	own.DisableCompression = true // see unpacker
	own.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, connectTimeout)
		defer cancel()
		return dial(ctx, network, address)
	}
	return unpacker{own}
}

// connectTrace records whether an attempt gets a connection.
type connectTrace struct{ asked, got atomic.Bool }

func (c *connectTrace) withTrace(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { c.asked.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { c.got.Store(true) },
	})
}

// noConnection reports whether a connection was requested and none was made. An invalid certificate shows that
// the host exists, so it does not count.
func (c *connectTrace) noConnection(err error) bool {
	var certificate *tls.CertificateVerificationError
	return c.asked.Load() && !c.got.Load() && !errors.As(err, &certificate)
}

// unreachableHosts remembers hosts that could not be reached. It is safe for concurrent use.
type unreachableHosts struct {
	mu    sync.Mutex
	hosts map[string]unreachableEntry
}

type unreachableEntry struct {
	until time.Time
	err   *Error
}

func (r *unreachableHosts) lookup(host string, now time.Time) *Error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if u := r.hosts[host]; now.Before(u.until) {
		return u.err
	}
	return nil
}

func (r *unreachableHosts) remember(err *Error, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hosts == nil {
		r.hosts = map[string]unreachableEntry{}
	}
	r.hosts[err.Host] = unreachableEntry{now.Add(unreachableFor), err}
}

// notifyUnreached calls Options.Unreached before another attempt to reach the host.
func (c *Client) notifyUnreached(ctx context.Context, err error, attempt int) {
	host := UnreachableHost(err)
	if host != "" && attempt < governor.UnreachedAttempts && c.opt.Unreached != nil {
		c.opt.Unreached(ctx, host, attempt+1, governor.UnreachedAttempts)
	}
}
