package governproxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// tunnel handles CONNECT: it inspects the traffic, or forwards it without inspection.
func (p *Proxy) tunnel(w http.ResponseWriter, r *http.Request) {
	host := r.Host
	way, ok := p.senderFor(w, "https", host)
	if !ok {
		return
	}
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, "no tunnel on this connection", http.StatusInternalServerError)
		return
	}
	if p.isBlind(host) {
		p.forwardBlind(conn, way, host)
		return
	}
	if _, err := io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		_ = conn.Close()
		return
	}
	c := &peekedConn{Conn: conn, r: buffered.Reader}
	first, err := c.r.Peek(1)
	switch {
	case err != nil:
		_ = conn.Close()
	case first[0] != tlsHandshakeByte:
		p.tunnelled.take(withTunnelTarget{c, tunnelTarget{"http", host}})
	default:
		p.unwrap(c, host)
	}
}

// tlsHandshakeByte is the first byte of a TLS connection.
const tlsHandshakeByte = 0x16

func (p *Proxy) isBlind(host string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.o.Blind || p.pinned[host]
}

// unwrap terminates TLS. A client that rejects our certificate gets a tunnel the next time.
func (p *Proxy) unwrap(c net.Conn, host string) {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	inside := tls.Server(c, &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return p.authority.leaf(name) },
	})
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := inside.HandshakeContext(ctx); err != nil {
		var refused *net.OpError
		if errors.As(err, &refused) && refused.Op == "remote error" {
			p.mu.Lock()
			p.pinned[host] = true
			p.mu.Unlock()
		}
		_ = c.Close()
		return
	}
	p.tunnelled.take(withTunnelTarget{inside, tunnelTarget{"https", host}})
}

// forwardBlind forwards a connection without inspection. Connecting waits for the pace like a request.
func (p *Proxy) forwardBlind(client net.Conn, way *governhttp.Sender, host string) {
	defer client.Close()
	p.seen.unseen()
	ctx, cancel := context.WithTimeout(context.Background(), p.o.Hold)
	defer cancel()
	var server net.Conn
	err := way.Do(ctx, func(ctx context.Context) (governor.Outcome, error) {
		var err error
		if server, err = p.o.Dial(ctx, "tcp", host); err != nil {
			return governor.Outcome{Kind: governor.Failed, Unreached: true}, err
		}
		return governor.Outcome{Kind: governor.Success}, nil
	})
	if err != nil {
		p.seen.failed(requestIdentity{"CONNECT", host}, p.place())
		_, _ = io.WriteString(client, "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")
		return
	}
	defer server.Close()
	if _, err := io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	back := make(chan struct{})
	go func() {
		defer close(back)
		_, _ = io.Copy(client, server) // if one side ends, both are closed
		_ = client.Close()
	}()
	_, _ = io.Copy(server, client)
	_ = server.Close()
	<-back
}

// peekedConn is a connection with buffered first bytes.
type peekedConn struct {
	net.Conn
	r *bufio.Reader
}

func (c *peekedConn) Read(b []byte) (int, error) { return c.r.Read(b) }

// tunnelTarget is the target of a tunnel.
type tunnelTarget struct{ scheme, host string }

type withTunnelTarget struct {
	net.Conn
	to tunnelTarget
}

type destinationKey struct{}

func connContext(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, destinationKey{}, c.(withTunnelTarget).to)
}

func destinationOf(ctx context.Context) tunnelTarget {
	to, _ := ctx.Value(destinationKey{}).(tunnelTarget)
	return to
}

// connListener is a listener for connections that were accepted elsewhere.
type connListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
	addr   net.Addr
}

func newHandedOver(addr net.Addr) *connListener {
	return &connListener{conns: make(chan net.Conn), closed: make(chan struct{}), addr: addr}
}

func (h *connListener) take(c net.Conn) {
	select {
	case h.conns <- c:
	case <-h.closed:
		_ = c.Close()
	}
}

// Accept returns the next connection.
func (h *connListener) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept.
func (h *connListener) Close() error {
	h.once.Do(func() { close(h.closed) })
	return nil
}

// Addr returns the address of the listener that accepted them.
func (h *connListener) Addr() net.Addr { return h.addr }
