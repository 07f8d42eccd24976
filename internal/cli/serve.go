package cli

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/keep/audit"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/keep/store/postgres"
	"github.com/pdpp-go/pdpp/internal/ops/logging"
	"github.com/pdpp-go/pdpp/internal/schedule/scheduler"
	"github.com/pdpp-go/pdpp/internal/serve"
	"github.com/pdpp-go/pdpp/internal/web/auth"
	"github.com/pdpp-go/pdpp/internal/web/server"
)

const serveText = `Runs everything in one process: scheduled collection, repair, pushes, the console,
the JSON routes, and /healthz, /readyz and /metrics. It stays in the foreground; let
your system's service manager keep it alive.

You sign in to the console with a password: PDPP_OWNER_PASSWORD, or one that is made
at the first start and shown once. Only this machine is listened to unless you give
another address, which needs a password of your own choice.

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
	envPassword    = "PDPP_OWNER_PASSWORD"
	envMetrics     = "PDPP_METRICS_LISTEN"
	envProxies     = "PDPP_TRUSTED_PROXIES"
	envTraces      = "OTEL_EXPORTER_OTLP_ENDPOINT"

	defaultListen = "127.0.0.1:7377"
	// shortestLease leaves a live worker two renewals on a busy machine.
	shortestLease = 2 * time.Second
)

// serveFlags is what the owner says about the process. Empty values are taken
// from the environment, then from the defaults.
type serveFlags struct {
	role, listen        string
	metricsListen       string
	slots, perProvider  int
	leaseTTL            time.Duration
	can                 []string
	logFormat, logLevel string
	// ready is told the address and the password, if one was made, once everything
	// works; nil means that the owner is told.
	ready func(url, password string)
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
	flags.StringVar(&f.metricsListen, "metrics-listen", "", "address for /metrics alone, without a token; a port is one of this machine (PDPP_METRICS_LISTEN)")
	flags.IntVar(&f.slots, "slots", 0, fmt.Sprintf("runs at once, per kind of work (PDPP_SLOTS, default %d)", scheduler.DefaultSlots))
	flags.IntVar(&f.perProvider, "slots-per-provider", 0, fmt.Sprintf("of those, how many one connector may have (PDPP_SLOTS_PER_PROVIDER, default %d)", scheduler.DefaultPerProvider))
	flags.DurationVar(&f.leaseTTL, "lease-ttl", 0, fmt.Sprintf("how soon a dead worker's run is taken over (PDPP_LEASE_TTL, default %v, at least %v)", launch.LeaseTTL, shortestLease))
	flags.StringSliceVar(&f.can, "can", nil, "what this machine runs: network, browser, local (default: what it has)")
	flags.StringVar(&f.logFormat, "log-format", "", "text or json (PDPP_LOG_FORMAT, default text)")
	flags.StringVar(&f.logLevel, "log-level", "", "debug, info, warn or error (PDPP_LOG_LEVEL, default info)")
	return cmd
}

func (a *app) serve(ctx context.Context, f serveFlags) (err error) {
	if err := a.refuseServer(); err != nil {
		return err
	}
	c, err := a.serveConfig(&f)
	if err != nil {
		return err
	}
	var restored []string
	if c.Home, err = a.homeDir(); err != nil {
		c.Home = "" // PostgreSQL needs none
	} else {
		restored = restoreModes(c.Home, c.Log)
	}
	st, err := a.openStore(ctx, mayCreate)
	if err != nil {
		return err
	}
	c.Store = st
	c.Audit = audit.New(audit.Config{Store: st, Now: a.env.Now, Log: c.Log, By: audit.Actor{Kind: audit.Server}})
	defer func() {
		if closeErr := st.Close(); err == nil && closeErr != nil {
			err = fmt.Errorf("close the database: %w", closeErr)
		}
	}()
	if err := reportModes(ctx, st, restored, a.env.Now()); err != nil {
		return err
	}
	var release func()
	if c.Database, release, err = a.jobDatabase(ctx, st); err != nil {
		return err
	}
	defer release()
	if err := a.pushConfig(ctx, &c); err != nil {
		return err
	}
	var password string
	if f.listen != "" {
		if password, err = a.openAddress(ctx, &c, f.listen); err != nil {
			return err
		}
	}
	if f.metricsListen != "" {
		if c.Metrics, err = server.Listen(ctx, localByDefault(f.metricsListen), true); err != nil {
			return err
		}
	}
	c.Ready = func() { a.tellReady(&c, f.listen, password) }
	if f.ready != nil {
		c.Ready = func() { f.ready("http://"+c.Listener.Addr().String(), password) }
	}
	return serve.Run(ctx, c)
}

// openAddress listens, and makes sure that the owner has a password. It gives the
// password when it was made just now. An address that is refused makes none.
func (a *app) openAddress(ctx context.Context, c *serve.Config, listen string) (shown string, err error) {
	c.Auth = auth.New(auth.Config{Store: c.Store, Now: a.env.Now, Base: c.Base, HashCost: a.env.HashCost, Audit: c.Audit, Log: c.Log})
	if c.Role == serve.Worker { // answers for its health, and for its metrics to a token
		c.Listener, err = server.Listen(ctx, listen, true)
		return "", err
	}
	given, _, err := a.variable(envPassword)
	if err != nil {
		return "", err
	}
	chosen, err := c.Auth.Chosen(ctx)
	if err != nil {
		return "", err
	}
	if c.Listener, err = server.Listen(ctx, listen, chosen || given != ""); err != nil {
		return "", err
	}
	return c.Auth.Setup(ctx, given)
}

// tellReady says, once, that everything works.
func (a *app) tellReady(c *serve.Config, listen, password string) {
	if c.Listener != nil {
		listen = "http://" + c.Listener.Addr().String()
	}
	if a.json {
		writeJSON(a.out, map[string]any{"ready": true, "role": c.Role, "worker_id": c.Worker.ID, "capabilities": c.Worker.Capabilities, "url": listen, "owner_password": password})
		return
	}
	at := ""
	if listen != "" {
		at = " on " + listen
	}
	does := "this worker runs what needs " + strings.Join(c.Worker.Capabilities, ", ")
	if c.Role == serve.Web {
		does = "runs are made by workers elsewhere"
	}
	printf(a.out, "PDPP is ready%s; %s.\n", at, does)
	if password != "" {
		printf(a.out, "Sign in with this password, which is not shown again: %s\n", password)
	}
}

// localByDefault makes an address of this machine of a port alone.
func localByDefault(address string) string {
	if _, err := strconv.Atoi(address); err == nil {
		address = ":" + address
	}
	if strings.HasPrefix(address, ":") {
		return "127.0.0.1" + address
	}
	return address
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
