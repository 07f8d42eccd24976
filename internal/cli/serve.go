package cli

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"pdpp/internal/catalog"
	"pdpp/internal/launch"
	"pdpp/internal/logging"
	"pdpp/internal/scheduler"
	"pdpp/internal/serve"
	"pdpp/internal/store"
	"pdpp/internal/store/postgres"
)

const serveText = `Runs everything in one process: scheduled collection, repair, pushes, and the
HTTP side with /healthz, /readyz and /metrics. It stays in the foreground; let
your system's service manager keep it alive.

Runs start when they are due and wait when they must. SIGTERM, or Ctrl-C, lets
every run finish the slice it is at, puts the rest back into the queue, and ends.

On PostgreSQL any number of machines share the work: one with --role web, as many
with --role worker as you like. A worker takes only what its machine can run.`

const serveExamples = `  pdpp serve                                   everything, on this machine
  pdpp serve --role worker --slots 20          one worker of many, over PDPP_DATABASE_URL
  pdpp serve --can network                     leave browser and local files to others
  pdpp workers                                 who is at work`

const (
	envListen      = "PDPP_LISTEN"
	envSlots       = "PDPP_SLOTS"
	envPerProvider = "PDPP_SLOTS_PER_PROVIDER"
	envLeaseTTL    = "PDPP_LEASE_TTL"
	envLogFormat   = "PDPP_LOG_FORMAT"
	envLogLevel    = "PDPP_LOG_LEVEL"
	envBaseURL     = "PDPP_BASE_URL"
	envTraces      = "OTEL_EXPORTER_OTLP_ENDPOINT"

	defaultListen = "127.0.0.1:7377"
	// shortestLease leaves a live worker two renewals on a busy machine.
	shortestLease = 2 * time.Second
)

// serveFlags is what the owner says about the process. Empty values are taken
// from the environment, then from the defaults.
type serveFlags struct {
	role, listen        string
	slots, perProvider  int
	leaseTTL            time.Duration
	can                 []string
	logFormat, logLevel string
}

func (a *app) serveCommand() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use: "serve", Short: "Collect by schedule, repair and push, until stopped", Long: serveText, Example: serveExamples, Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context(), f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.role, "role", "all", "which parts run here: all, web or worker")
	flags.StringVar(&f.listen, "listen", "", "address for HTTP (PDPP_LISTEN, default "+defaultListen+"; a worker listens only if told)")
	flags.IntVar(&f.slots, "slots", 0, fmt.Sprintf("runs at once, per kind of work (PDPP_SLOTS, default %d)", scheduler.DefaultSlots))
	flags.IntVar(&f.perProvider, "slots-per-provider", 0, fmt.Sprintf("of those, how many one connector may have (PDPP_SLOTS_PER_PROVIDER, default %d)", scheduler.DefaultPerProvider))
	flags.DurationVar(&f.leaseTTL, "lease-ttl", 0, fmt.Sprintf("how soon a dead worker's run is taken over (PDPP_LEASE_TTL, default %v, at least %v)", launch.LeaseTTL, shortestLease))
	flags.StringSliceVar(&f.can, "can", nil, "what this machine runs: network, browser, local (default: what it has)")
	flags.StringVar(&f.logFormat, "log-format", "", "text or json (PDPP_LOG_FORMAT, default text)")
	flags.StringVar(&f.logLevel, "log-level", "", "debug, info, warn or error (PDPP_LOG_LEVEL, default info)")
	return cmd
}

func (a *app) serve(ctx context.Context, f serveFlags) (err error) {
	c, err := a.serveConfig(&f)
	if err != nil {
		return err
	}
	st, err := a.openStore(ctx, mayCreate)
	if err != nil {
		return err
	}
	c.Store = st
	defer func() {
		if closeErr := st.Close(); err == nil && closeErr != nil {
			err = fmt.Errorf("close the database: %w", closeErr)
		}
	}()
	var release func()
	if c.Database, release, err = a.jobDatabase(ctx, st); err != nil {
		return err
	}
	defer release()
	if err := a.pushConfig(ctx, &c); err != nil {
		return err
	}
	if f.listen != "" {
		if c.Listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", f.listen); err != nil {
			return &Error{Code: "listen_failed", Exit: ExitFailed, Err: err, Message: "cannot listen on " + f.listen + ": " + cause(err).Error(),
				Next: "Choose another address with --listen, or stop the program that has this one."}
		}
	}
	c.Ready = func() { a.tellReady(&c, f.listen) }
	return serve.Run(ctx, c)
}

// tellReady says, once, that everything works.
func (a *app) tellReady(c *serve.Config, listen string) {
	if c.Listener != nil {
		listen = "http://" + c.Listener.Addr().String()
	}
	if a.json {
		writeJSON(a.out, map[string]any{"ready": true, "role": c.Role, "worker_id": c.Worker.ID, "capabilities": c.Worker.Capabilities, "url": listen})
		return
	}
	at := ""
	if listen != "" {
		at = " on " + listen
	}
	if c.Role == serve.Web {
		printf(a.out, "PDPP is ready%s; runs are made by workers elsewhere.\n", at)
		return
	}
	printf(a.out, "PDPP is ready%s; this worker runs what needs %s.\n", at, strings.Join(c.Worker.Capabilities, ", "))
}

// jobDatabase is where the queue is: in the store's own database.
func (a *app) jobDatabase(ctx context.Context, st store.Store) (scheduler.Database, func(), error) {
	url, err := a.postgresURL()
	if err != nil {
		return scheduler.Database{}, nil, err
	}
	if url == "" {
		return scheduler.Database{SQLite: st.(embedded).Writer()}, func() {}, nil
	}
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return scheduler.Database{}, nil, storageError(ctx, err, "the database server")
	}
	postgres.BoundIdle(config.ConnConfig.RuntimeParams)
	config.MaxConns = 4 // one listens, the others fetch, complete and insert
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return scheduler.Database{}, nil, storageError(ctx, err, "the database server")
	}
	return scheduler.Database{Postgres: pool}, pool.Close, nil
}

// serveLog makes the log, on standard error.
func (a *app) serveLog(f *serveFlags) (*slog.Logger, error) {
	format, level := logging.Text, slog.LevelInfo
	if f.logFormat != "" {
		format = logging.Format(f.logFormat)
	}
	if f.logLevel != "" {
		if err := level.UnmarshalText([]byte(f.logLevel)); err != nil {
			return nil, usage("there is no log level "+strconv.Quote(f.logLevel), "Use debug, info, warn or error.")
		}
	}
	log, err := logging.New(a.errOut, format, level)
	if err != nil {
		return nil, usage("there is no log format "+strconv.Quote(f.logFormat), "Use text or json.")
	}
	return log, nil
}

// capabilities are what the machine can run, or what the owner says of it.
func (a *app) capabilities(named []string) ([]string, error) {
	if len(named) == 0 {
		out := []string{string(scheduler.Network), string(scheduler.Local)}
		if _, ok := catalog.Browser(a.env.LookPath); ok {
			out = append(out, string(scheduler.Browser))
		}
		return out, nil
	}
	for _, name := range named {
		if !slices.Contains(scheduler.Capabilities, scheduler.Capability(name)) {
			return nil, usage("there is no kind of work called "+strconv.Quote(name), "Use network, browser or local.")
		}
	}
	return named, nil
}
