package providersim

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync"
)

// FreeLoopback asks the system for a free port that only this host reaches.
const FreeLoopback = "127.0.0.1:0"

// ErrNotLoopback means that an address would be reachable from other hosts.
var ErrNotLoopback = errors.New("address is not loopback")

// Server is a running simulator with its control port.
type Server struct {
	BaseURL    string
	ControlURL string

	servers []*http.Server
	done    sync.WaitGroup
}

// Serve listens on two loopback addresses; an empty one means [FreeLoopback].
// Any other address fails with [ErrNotLoopback]: a simulator has invented data
// and an unguarded control port, and neither belongs on a network.
func Serve(addr string, api http.Handler, controlAddr string, control http.Handler) (*Server, error) {
	apiListener, err := listenLoopback(addr)
	if err != nil {
		return nil, err
	}
	controlListener, err := listenLoopback(controlAddr)
	if err != nil {
		_ = apiListener.Close()
		return nil, fmt.Errorf("control port: %w", err)
	}
	s := &Server{
		BaseURL:    "http://" + apiListener.Addr().String(),
		ControlURL: "http://" + controlListener.Addr().String(),
	}
	s.startServer(apiListener, api)
	s.startServer(controlListener, control)
	return s, nil
}

func (s *Server) startServer(l net.Listener, h http.Handler) {
	srv := &http.Server{Handler: h}
	s.servers = append(s.servers, srv)
	// Serve returns only after Close, or when the listener breaks, which every
	// client then notices.
	s.done.Go(func() { _ = srv.Serve(l) })
}

// Control returns a client of the control port.
func (s *Server) Control() Control { return Control{URL: s.ControlURL} }

// Close stops both ports and breaks open connections.
func (s *Server) Close() error {
	var errs []error
	for _, srv := range s.servers {
		errs = append(errs, srv.Close())
	}
	s.done.Wait()
	return errors.Join(errs...)
}

func listenLoopback(addr string) (net.Listener, error) {
	if addr == "" {
		addr = FreeLoopback
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %q: %w", addr, err)
	}
	if host == "localhost" {
		// Resolving the name could return any address; the literal cannot.
		host = "127.0.0.1"
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("listen on %q: %w: use 127.0.0.1, [::1] or localhost", addr, ErrNotLoopback)
	}
	return net.Listen("tcp", net.JoinHostPort(host, port))
}
