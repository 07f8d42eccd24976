// Package server is the program's HTTP side: it says whether the process lives
// and is ready, shows its metrics, and gives every answer its headers, its
// request id and, when there is nothing to answer, the error envelope. Other
// surfaces are mounted beside.
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

// Bounds of a request and of the end of the server. A handler that streams lifts
// the read and write limits for itself, with http.ResponseController. Reading ends
// before writing does, so that whoever sends too slowly can be told.
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
	Checks []Check
	// Metrics answers a scrape; nil means that there is none.
	Metrics http.Handler
	// Mount adds routes; nil adds none. A more specific pattern wins.
	Mount func(*http.ServeMux)
	// Public is the address that owners reach this server by, if it is not that of
	// the listener; an address that cannot be read counts as none. A server that has
	// one, or that only this machine reaches, answers to its own names alone.
	Public string
	// OwnLimits says which requests go to a route that bounds its body itself; nil means
	// none.
	OwnLimits func(*http.Request) bool
	// Proxies may say from where a request really comes.
	Proxies []netip.Prefix
	// Loopback says that only this machine reaches the server. Serve finds it out.
	Loopback bool
	// Log gets what goes wrong; nil means nobody.
	Log *slog.Logger
}

func (c Config) log() *slog.Logger {
	if c.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return c.Log
}

// New gives the handler of everything that the server answers.
func New(c Config) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", alive)
	mux.Handle("GET /readyz", &readiness{checks: c.Checks, log: c.log()})
	if c.Metrics != nil {
		mux.Handle("GET /metrics", c.Metrics)
	}
	if c.Mount != nil {
		c.Mount(mux)
	}
	guarded := withSameOrigin(c.publicOrigin(), withBodyLimits(c.OwnLimits, withErrorsAsJSON(mux)))
	if c.Loopback || c.publicOrigin() != "" {
		guarded = withKnownHost(c.Public, guarded)
	}
	guarded = withClientAddress(c.Proxies, guarded)
	return withRequestID(withHeaders(c.Version, strings.HasPrefix(c.publicOrigin(), "https:"), survivingPanics(c.log(), guarded)))
}

// alive answers as long as the process can answer at all.
func alive(w http.ResponseWriter, _ *http.Request) {
	reply.JSON(w, http.StatusOK, map[string]string{"status": "alive"})
}

// Serve answers on the listener until the context ends, then takes nothing new
// and gives what is under way two seconds. Its error is one of the listener.
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
		srv.Close() // whoever is still under way has had their time
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
