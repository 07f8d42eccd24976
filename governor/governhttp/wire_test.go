package governhttp

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

func dialed(t *testing.T, o WireOptions, serve func(net.Conn)) *Wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		if conn, err := l.Accept(); err == nil {
			serve(conn)
			_ = conn.Close() // not earlier: the garbage collector closes an unreferenced connection
		}
	}()
	o.Address = l.Addr().String()
	w, err := DialWire(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

func TestWireEnds(t *testing.T) {
	t.Parallel()
	silent := make(chan struct{})
	t.Cleanup(func() { close(silent) })
	w := dialed(t, WireOptions{Stall: 10 * time.Millisecond}, func(net.Conn) { <-silent })
	if _, err := w.Read(make([]byte, 1)); kindOf(t, err) != Timeout {
		t.Errorf("silence: %v", err)
	}
	w = dialed(t, WireOptions{}, func(c net.Conn) { _ = c.Close() })
	if _, err := w.Read(make([]byte, 1)); kindOf(t, err) != Network || !errors.Is(err, io.EOF) {
		t.Errorf("the end: %v", err)
	}
	w = dialed(t, WireOptions{}, func(net.Conn) { <-silent })
	ctx, cancel := context.WithCancel(t.Context())
	defer w.Within(ctx)()
	cancel()
	if _, err := w.Read(make([]byte, 1)); kindOf(t, err) != Network {
		t.Errorf("a caller that gave up: %v", err)
	}
	if _, err := DialWire(t.Context(), WireOptions{Address: "127.0.0.1:1"}); UnreachableHost(err) != "127.0.0.1" {
		t.Errorf("nobody there: %v", err)
	}
}

func TestWireRefusesAnotherHostsCertificate(t *testing.T) {
	t.Parallel()
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	address := s.Listener.Addr().String()
	_, err := DialWire(t.Context(), WireOptions{Address: address, TLS: &tls.Config{MinVersion: tls.VersionTLS12}})
	var refused *tls.CertificateVerificationError
	if !errors.As(err, &refused) {
		t.Errorf("an unknown authority: %v", err)
	}
	trusting := s.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	w, err := DialWire(t.Context(), WireOptions{Address: address, TLS: trusting})
	if err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
}
