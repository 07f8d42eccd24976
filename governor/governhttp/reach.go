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

	"pdpp/governor"
)

const (
	// connectTimeout bounds the way to a connection, finding the address included,
	// and then that to an encrypted one. A host that does not answer in that time is
	// taken for unreachable.
	connectTimeout = 8 * time.Second
	// unreachableFor is how long a host that could not be reached is not tried again:
	// whoever asks meanwhile gets the same answer at once.
	unreachableFor = time.Minute
)

// transport is a client's own. Each call at work keeps its connection.
func transport(connections int, dial func(ctx context.Context, network, address string) (net.Conn, error)) *http.Transport {
	if dial == nil {
		dial = (&net.Dialer{KeepAlive: 30 * time.Second}).DialContext
	}
	own := http.DefaultTransport.(*http.Transport).Clone()
	own.MaxIdleConnsPerHost, own.TLSHandshakeTimeout = connections, connectTimeout
	own.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, connectTimeout)
		defer cancel()
		return dial(ctx, network, address)
	}
	return own
}

// connecting watches whether an attempt gets a connection.
type connecting struct{ asked, got atomic.Bool }

func (c *connecting) within(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { c.asked.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { c.got.Store(true) },
	})
}

// failed tells whether a connection was asked for and none came. A certificate that
// is refused shows that the host is there.
func (c *connecting) failed(err error) bool {
	var certificate *tls.CertificateVerificationError
	return c.asked.Load() && !c.got.Load() && !errors.As(err, &certificate)
}

// reach remembers which hosts could not be reached.
type reach struct {
	mu    sync.Mutex
	hosts map[string]unreachable
}

type unreachable struct {
	until time.Time
	err   *Error
}

func (r *reach) known(host string, now time.Time) *Error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if u := r.hosts[host]; now.Before(u.until) {
		return u.err
	}
	return nil
}

func (r *reach) lost(err *Error, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hosts == nil {
		r.hosts = map[string]unreachable{}
	}
	r.hosts[err.Host] = unreachable{now.Add(unreachableFor), err}
}

// trying tells, before another attempt to reach the host, which one that will be.
func (c *Client) trying(ctx context.Context, err error, attempt int) {
	host := UnreachableHost(err)
	if host != "" && attempt < governor.UnreachedAttempts && c.opt.Unreached != nil {
		c.opt.Unreached(ctx, host, attempt+1, governor.UnreachedAttempts)
	}
}
