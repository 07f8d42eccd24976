// Package serve puts the parts of a running server together: the scheduler with
// its workers, the watcher of repairs, the pushes, and the HTTP side. It decides
// nothing that those parts decide.
package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/collect/browser"
	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/interaction"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/deviceapi"
	"github.com/pdpp-go/pdpp/internal/ops/metrics"
	"github.com/pdpp-go/pdpp/internal/ops/tracing"
	"github.com/pdpp-go/pdpp/internal/owner/console"
	"github.com/pdpp-go/pdpp/internal/owner/thumbnail"
	"github.com/pdpp-go/pdpp/internal/schedule/notify"
	"github.com/pdpp-go/pdpp/internal/schedule/scheduler"
	"github.com/pdpp-go/pdpp/internal/storage/audit"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/web/auth"
	"github.com/pdpp-go/pdpp/internal/web/reply"
	"github.com/pdpp-go/pdpp/internal/web/server"
	"github.com/pdpp-go/pdpp/internal/web/surface"
)

// Role is which parts a process has.
type Role string

const (
	All    Role = "all"
	Web    Role = "web"    // answers, and runs nothing
	Worker Role = "worker" // runs, and answers only for its own health
)

// Roles lists all of them.
var Roles = []Role{All, Web, Worker}

// Config configures a server.
type Config struct {
	Role     Role
	Store    store.Store
	Database scheduler.Database
	// Listener answers HTTP; nil for a process without HTTP.
	Listener net.Listener
	// Auth lets the owner in; nil means that there are no pages and no routes but
	// those of the process's own health.
	Auth *auth.Auth
	// Metrics answers scrapes without asking who scrapes; nil means that they come to
	// Listener, with an owner token.
	Metrics net.Listener
	// Proxies are trusted to report a client's address.
	Proxies []netip.Prefix
	// Audit is the trail of what is done through the surfaces.
	Audit *audit.Trail
	Home  string // the data folder, as shown to the owner
	// Backups are made and proven on this schedule; nil makes none. They need the embedded database.
	Backups *BackupPlan

	// Worker describes this process; empty capabilities mean those of this machine.
	Worker             store.Worker
	Slots, PerProvider int
	// Browsers are the browser profiles of this machine, which are kept in Store under Key; nil
	// where it has no browser. BrowserSlots is how many browsers may be at work at once.
	Browsers     *browser.Profiles
	BrowserSlots int
	Connectors   catalog.Catalog
	// Blobs is where the files of records are kept; without a place there are none.
	Blobs launch.Blobs
	// Thumbnails makes small pictures of those files; nil means that there are none.
	Thumbnails *thumbnail.Maker
	Lookup     func(name string) (string, bool)
	// LookPath finds a program of this machine; nil means that it has none.
	LookPath func(program string) (string, error)
	Bindings map[string]jsontext.Value
	Options  runner.Options
	LeaseTTL time.Duration // zero means the default
	// LookForFiles is how often import folders are looked at for new files; zero means every 10 seconds.
	LookForFiles time.Duration
	// Rhythm is for those who look on for days; the zero value is right otherwise.
	Rhythm scheduler.Rhythm

	// Key opens stored credentials and the keys of pushes.
	Key   credential.Key
	VAPID notify.VAPID
	Base  string // where the owner's console is

	TraceEndpoint string
	Revision      string
	Log           *slog.Logger
	Now           func() time.Time
	// HTTP reaches push targets; nil means a plain client.
	HTTP *http.Client
	// Ready is called once everything works.
	Ready func()
}

// stopTime limits the shutdown.
const stopTime = 10 * time.Second

// Run serves until ctx ends, then lets runs finish their slice and leaves. A server that is
// stopped while it starts returns nil as well.
func Run(ctx context.Context, c Config) error {
	stopTraces, err := tracing.Start(ctx, c.TraceEndpoint, c.Worker.Version)
	if err != nil {
		return fmt.Errorf("start tracing: %w", err)
	}
	defer func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer cancel()
		if err := stopTraces(last); err != nil {
			c.Log.Warn("traces were not delivered", "error", err)
		}
	}()
	s := newProcess(c)
	ctx, end := context.WithCancel(ctx)
	defer s.background.Wait()
	defer end()
	s.recorder = s.newRecorder(ctx)
	// Pages outlive ctx, because runs finish their slice after it.
	shown, endPages := context.WithCancel(context.WithoutCancel(ctx))
	s.pages = s.newSurfaces(shown)
	defer func() {
		endPages()
		s.pages.Wait()
		if s.uplink != nil {
			s.uplink.Wait()
		}
	}()
	if c.Role != Web {
		if err := s.startWorker(ctx, shown); ctx.Err() != nil && err != nil {
			c.Log.Info("stopped before the start was complete", "error", err)
			return nil
		} else if err != nil {
			return err
		}
	}
	answered, stopAnswering, err := s.answer(ctx)
	if err != nil {
		return err
	}
	if c.Ready != nil {
		c.Ready()
	}
	select {
	case <-ctx.Done():
	case err = <-answered:
		err = fmt.Errorf("answer requests: %w", err)
	}
	c.Log.Info("stopping: runs finish their slice")
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	if s.scheduler != nil {
		err = errors.Join(err, s.scheduler.Stop(last))
	}
	return errors.Join(err, stopAnswering())
}

// process is what one server holds while it runs.
type process struct {
	Config
	scheduler  *scheduler.Scheduler
	answers    *interaction.Mailbox // of the runs of this process; nil when it has none
	pages      *surface.Hub
	uplink     *surface.Uplink // of a process without a console
	recorder   *metrics.Recorder
	keptAt     time.Time // when upkeep was last done, by the passes
	prunedAt   time.Time // when the audit trail was last pruned
	deviceless devicelessSeen

	pushWanted chan struct{}
	background sync.WaitGroup // what goes on beside the passes
}

// newProcess makes one that has not begun. While a push is under way the next can be asked for.
func newProcess(c Config) *process { return &process{Config: c, pushWanted: make(chan struct{}, 1)} }

// answer serves HTTP in the background. Stop ends it and returns its error.
func (s *process) answer(ctx context.Context) (failed <-chan error, stop func() error, err error) {
	if s.Listener == nil && s.Metrics == nil {
		return nil, func() error { return nil }, nil
	}
	// Open pages end with the process; health requests are answered until the runs are over.
	mount, err := s.surfaces(ctx)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	early, over := make(chan error, 2), make(chan error, 2)
	listening := 0
	serveOn := func(l net.Listener, c server.Config) {
		if l == nil {
			return
		}
		c.Version, c.Checks, c.Log = s.Worker.Version, s.checks(), s.Log
		listening++
		go func() {
			err := server.Serve(ctx, l, c)
			if err != nil && ctx.Err() == nil {
				early <- err
			}
			over <- err
		}()
	}
	all := server.Config{Mount: mount, Proxies: s.Proxies,
		NotFound:  server.PageHeaders(http.HandlerFunc(console.ShowNoPage)),
		OwnLimits: func(r *http.Request) bool { return deviceapi.OwnLimits(r) || console.OwnLimits(r) }}
	if s.Role != Worker { // health requests to a worker may use any host name
		all.Public = s.Base
	}
	if s.Auth != nil {
		all.Metrics = s.Auth.Owner(reply.ScopeRead, s.recorder.Handler())
	}
	serveOn(s.Listener, all)
	serveOn(s.Metrics, server.Config{Metrics: s.recorder.Handler()})
	return early, func() (err error) {
		cancel()
		for range listening {
			err = errors.Join(err, <-over)
		}
		return err
	}, nil
}

// passWithin is how old the last pass of a healthy scheduler may be.
const passWithin = 30 * time.Second

func (s *process) checks() []server.ReadinessCheck {
	checks := []server.ReadinessCheck{server.Database(s.Store)}
	if s.scheduler != nil {
		checks = append(checks, server.Scheduler(s.scheduler.LastPass, passWithin))
	}
	return checks
}
