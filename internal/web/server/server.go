// Package server is the HTTP server. It serves health, readiness and metrics, and adds headers, a request id and
// error envelopes to every answer. Other packages mount their routes.
package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/web/reply"
)

// Limits of a request and of the shutdown. A handler that streams lifts the read and write limits with
// http.ResponseController. Reading times out before writing, so that a slow client can receive an error.
const (
	headerTimeout   = 5 * time.Second
	readTimeout     = 20 * time.Second
	writeTimeout    = 30 * time.Second
	idleTimeout     = time.Minute
	maxHeaderBytes  = 64 << 10
	shutdownTimeout = 2 * time.Second
)

// Config is what a server is made of.
type Config struct {
	// Version is sent with every answer, as PDPP-Version.
	Version string
	// Checks must all pass for the process to be ready.
	Checks []ReadinessCheck
	// Metrics answers a scrape; nil means that there is none.
	Metrics http.Handler
	// Mount adds routes; nil adds none. A more specific pattern wins.
	Mount func(*http.ServeMux)
	// NotFound answers a browser's request for a page that does not exist. Nil means the error envelope.
	NotFound http.Handler
	// Public is the address by which owners reach this server, if it differs from the listener's; an invalid address
	// counts as none. A server with a public address, or on loopback only, accepts only its own host names.
	Public string
	// OwnLimits selects requests to routes that limit their body themselves; nil selects none.
	OwnLimits func(*http.Request) bool
	// Proxies are trusted to report a client's address.
	Proxies []netip.Prefix
	// Loopback means that only this machine can reach the server. Serve sets it.
	Loopback bool
	// Log receives errors. Nil discards them.
	Log *slog.Logger
}

func (c Config) log() *slog.Logger {
	if c.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return c.Log
}

// New returns the handler of the whole server.
func New(c Config) http.Handler {
	mux := http.NewServeMux()
	for _, route := range Routes(c) {
		mux.HandleFunc(route.Pattern, route.Handle)
	}
	if c.Metrics != nil {
		mux.Handle("GET /metrics", c.Metrics)
	}
	if c.Mount != nil {
		c.Mount(mux)
	}
	guarded := withSharing(withSameOrigin(c.publicOrigin(),
		withBodyLimits(c.OwnLimits, withErrorsAsJSON(mux, c.NotFound))))
	if c.Loopback || c.publicOrigin() != "" {
		guarded = withKnownHost(c.Public, guarded)
	}
	guarded = withClientAddress(c.Proxies, guarded)
	return withRequestID(withHeaders(c.Version, strings.HasPrefix(c.publicOrigin(), "https:"),
		survivingPanics(c.log(), guarded)))
}

// Routes returns the addresses that every process answers.
func Routes(c Config) []reply.Route {
	probe, ready := &readiness{checks: c.Checks, log: c.log()}, reply.Returns[readyAnswer](http.StatusOK)
	return []reply.Route{
		{Pattern: "GET /healthz", Handle: serveHealth, Operation: reply.Operation{Name: "getHealthz", Tag: "process",
			Summary: "Whether the process can answer", Access: reply.AccessPublic,
			Answers: reply.Returns[aliveAnswer](http.StatusOK)}},
		{Pattern: "GET /readyz", Handle: probe.ServeHTTP, Operation: reply.Operation{Name: "getReadyz", Tag: "process",
			Summary: "Whether everything that the process needs is there", Access: reply.AccessPublic,
			Answers: append(ready, reply.Returns[readyAnswer](http.StatusServiceUnavailable)...)}},
	}
}

type aliveAnswer struct {
	Status string `json:"status" enum:"alive"`
}

// serveHealth answers as long as the process can answer at all.
func serveHealth(w http.ResponseWriter, _ *http.Request) {
	reply.JSON(w, http.StatusOK, aliveAnswer{"alive"})
}

// Serve answers on the listener until the context ends. Then it accepts no new requests and lets current ones finish
// for two seconds. Its error comes from the listener.
func Serve(ctx context.Context, l net.Listener, c Config) error {
	c.Loopback = c.Loopback || onLoopback(l)
	srv := &http.Server{
		Handler:           New(c),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(c.log().Handler(), slog.LevelWarn),
	}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	if err := srv.Shutdown(grace); err != nil {
		srv.Close() // requests that did not finish in time
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
