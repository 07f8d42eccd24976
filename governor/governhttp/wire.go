package governhttp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"
)

// WireOptions configures a connection for another protocol than HTTP.
type WireOptions struct {
	Address string      // host and port
	TLS     *tls.Config // nil: not encrypted, until Encrypt
	// Stall is how long nothing may be read or written before the connection counts as broken. Zero means a
	// minute. A whole response may take any time.
	Stall time.Duration
}

// Wire is a connection to a provider for another protocol than HTTP. Use it inside attempts of a Sender, one
// command each. It belongs to one goroutine.
type Wire struct {
	conn  net.Conn
	host  string
	stall time.Duration
}

// DialWire connects. It returns an Unreachable error if the host does not respond.
func DialWire(ctx context.Context, o WireOptions) (*Wire, error) {
	host, _, err := net.SplitHostPort(o.Address)
	if err != nil {
		return nil, fmt.Errorf("read address: %w", err)
	}
	w := &Wire{host: host, stall: o.Stall}
	if w.stall <= 0 {
		w.stall = time.Minute
	}
	limited, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	w.conn, err = (&net.Dialer{KeepAlive: 30 * time.Second}).DialContext(limited, "tcp", o.Address)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, &Error{Kind: Unreachable, Host: host, err: err}
	}
	if o.TLS != nil {
		if err := w.Encrypt(ctx, o.TLS); err != nil {
			_ = w.conn.Close()
			return nil, err
		}
	}
	return w, nil
}

// Encrypt starts TLS for the host that was dialed. An invalid certificate is a final error.
func (w *Wire) Encrypt(ctx context.Context, config *tls.Config) error {
	config = config.Clone()
	config.ServerName = w.host
	conn := tls.Client(w.conn, config)
	limited, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	if err := conn.HandshakeContext(limited); err != nil {
		return w.failure(ctx, err)
	}
	w.conn = conn
	return nil
}

// Within closes the connection when ctx ends, until release is called.
func (w *Wire) Within(ctx context.Context) (release func() bool) {
	return context.AfterFunc(ctx, func() { _ = w.conn.Close() })
}

func (w *Wire) Read(p []byte) (int, error) {
	if err := w.conn.SetReadDeadline(time.Now().Add(w.stall)); err != nil {
		return 0, &Error{Kind: Network, err: err}
	}
	n, err := w.conn.Read(p)
	if err != nil {
		err = w.failure(context.Background(), err)
	}
	return n, err
}

func (w *Wire) Write(p []byte) (int, error) {
	if err := w.conn.SetWriteDeadline(time.Now().Add(w.stall)); err != nil {
		return 0, &Error{Kind: Network, err: err}
	}
	n, err := w.conn.Write(p)
	if err != nil {
		err = w.failure(context.Background(), err)
	}
	return n, err
}

// Close closes the connection. It sends no farewell of the protocol.
func (w *Wire) Close() error { return w.conn.Close() }

func (w *Wire) failure(ctx context.Context, err error) error {
	var slow net.Error
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &slow) && slow.Timeout():
		return &Error{Kind: Timeout, err: err}
	}
	return &Error{Kind: Network, err: err}
}
