package deviceapi

import (
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/audit"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/web/reply"
	"github.com/pdpp-go/pdpp/internal/web/tokenqueue"
)

// Config configures the routes.
type Config struct {
	Store      store.Store
	Connectors catalog.Finder
	// Strangers delays requests with tokens that were invalid before; nil means a queue of these routes.
	Strangers *tokenqueue.Queue
	// Audit records enrolments and refused tokens; nil discards them.
	Audit *audit.Trail
	Now   func() time.Time // nil for the real time
	// Log receives errors of the server; nil discards them.
	Log *slog.Logger
	// MinimumAgent is the oldest collector version that supports everything; empty means any. Older collectors get
	// a warning but are still accepted.
	MinimumAgent string
	// FreeSpace returns the free and the total space of the disk that stores records; nil if it is not local.
	FreeSpace func() (free, total uint64, known bool)
	// Blobs stores the files of records, and Uploads receives them. Both are nil if files are not accepted.
	// BlobBytes is the maximum size: zero means the default, and a negative number no limit.
	Blobs     blob.Storage
	Uploads   blob.UploadStorage
	BlobBytes int64
	// Ending is closed when the server stops; nil means never.
	Ending <-chan struct{}
}

// Routes returns the routes of devices.
func Routes(c Config) []reply.Route {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Strangers == nil {
		c.Strangers = tokenqueue.NewQueue()
	}
	if c.BlobBytes == 0 {
		c.BlobBytes = runner.DefaultBlobBytes
	}
	a := &api{Config: c, tries: tokenqueue.NewAddressThrottle(), admission: newAdmission(c), gates: map[string]*gates{}}
	var all []reply.Route
	for _, group := range []func() []reply.Route{
		a.enrolRoutes, a.tokenRoutes, a.heartbeatRoutes, a.stateRoutes, a.batchRoutes, a.blobRoutes, a.gapRoutes,
		a.terminalRoutes,
	} {
		all = append(all, group()...)
	}
	return reply.Describe(all, operations)
}

type api struct {
	Config
	// tries slows down addresses that send wrong codes. It is separate from the limit of passwords, so that a
	// forgotten device does not prevent signing in.
	tries *tokenqueue.Throttle

	admission *admission

	mu    sync.Mutex
	gates map[string]*gates // by source
}

// handler answers a request of an authenticated device.
type handler func(w http.ResponseWriter, r *http.Request, c caller) error

// device authenticates a device and checks that the path names it.
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
		return h(w, r.WithContext(audit.WithActor(r.Context(), c.actor(r))), c)
	})
}

// source is device for a path that names one of its sources.
func (a *api) source(h handler) http.HandlerFunc {
	return a.device(func(w http.ResponseWriter, r *http.Request, c caller) error {
		if err := a.find(r.Context(), &c, r.PathValue("source"), http.StatusNotFound); err != nil {
			return err
		}
		return h(w, r, c)
	})
}
