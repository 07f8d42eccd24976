package deviceapi

import (
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/keep/audit"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/web/reply"
	"github.com/pdpp-go/pdpp/internal/web/strangers"
)

// Config is what the routes are made of.
type Config struct {
	Store      store.Store
	Connectors catalog.Finder
	// Strangers is where those wait whose token was not good before; nil means a line of
	// these routes' own.
	Strangers *strangers.Line
	// Audit is told who was let in and who was refused; nil means nobody.
	Audit *audit.Trail
	Now   func() time.Time // nil for the real time
	// Log gets what goes wrong on our side; nil means nobody.
	Log *slog.Logger
	// MinimumAgent is the oldest version of the collector that knows all that is asked of
	// it; empty means any. Older ones are told, and not refused.
	MinimumAgent string
	// FreeSpace gives the free and the whole space of the disk that records are kept on;
	// nil where that disk is not ours.
	FreeSpace func() (free, total uint64, known bool)
	// Blobs is where the files of records are kept, and Uploads where they arrive; nil means that
	// none are taken. BlobBytes is the largest: zero means the usual, and less no bound.
	Blobs     blob.Place
	Uploads   blob.Uploads
	BlobBytes int64
	// Ending is closed when the server stops; nil means never.
	Ending <-chan struct{}
}

// Routes gives the addresses of devices.
func Routes(c Config) []reply.Route {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Strangers == nil {
		c.Strangers = strangers.NewLine()
	}
	if c.BlobBytes == 0 {
		c.BlobBytes = runner.DefaultBlobBytes
	}
	a := &api{Config: c, tries: strangers.NewAddressThrottle(), load: newLoad(c), gates: map[string]*gates{}}
	var all []reply.Route
	for _, group := range []func() []reply.Route{
		a.enrolRoutes, a.tokenRoutes, a.heartbeatRoutes, a.stateRoutes, a.batchRoutes, a.blobRoutes, a.gapRoutes, a.terminalRoutes,
	} {
		all = append(all, group()...)
	}
	return all
}

type api struct {
	Config
	// tries slows down who shows wrong codes. It is not that of passwords, so
	// that a forgotten device keeps nobody from signing in.
	tries *strangers.Throttle
	load  *load

	mu    sync.Mutex
	gates map[string]*gates // by source
}

// handler answers for a device that was let in.
type handler func(w http.ResponseWriter, r *http.Request, c caller) error

// device lets a device at what is its own.
func (a *api) device(h handler) http.HandlerFunc {
	return a.answered(func(w http.ResponseWriter, r *http.Request) error {
		if err := protocolFits(r); err != nil {
			return err
		}
		c, err := a.caller(r)
		if err != nil {
			return err
		}
		if r.PathValue("device") != c.Device.ID {
			return forbidden("This token is that of another device.")
		}
		return h(w, r.WithContext(audit.With(r.Context(), c.actor(r))), c)
	})
}

// source lets a device at one of its sources, which the address names.
func (a *api) source(h handler) http.HandlerFunc {
	return a.device(func(w http.ResponseWriter, r *http.Request, c caller) error {
		if err := a.find(r.Context(), &c, r.PathValue("source"), http.StatusNotFound); err != nil {
			return err
		}
		return h(w, r, c)
	})
}
