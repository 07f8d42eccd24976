// Package daemon has the commands that run a server in the foreground: the owner's own, and the demonstration.
package daemon

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

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/ops/logging"
	"github.com/pdpp-go/pdpp/internal/ops/systemservice"
	"github.com/pdpp-go/pdpp/internal/schedule/scheduler"
	"github.com/pdpp-go/pdpp/internal/serve"
	"github.com/pdpp-go/pdpp/internal/storage/audit"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres"
	"github.com/pdpp-go/pdpp/internal/web/auth"
	"github.com/pdpp-go/pdpp/internal/web/server"
)

const serveHelp = `Runs everything in one process: scheduled collection, repair, pushes, the console,
the JSON routes, and /healthz, /readyz and /metrics. It stays in the foreground;
pdpp service install keeps it running.

You sign in to the console with a password: PDPP_OWNER_PASSWORD, or a generated one
that is shown once at the first start. The server listens on this machine only, unless
you set another address; then you must choose a password yourself.

Runs start when they are due and wait when they must. SIGTERM or Ctrl-C lets every run
finish its current slice, puts the rest back into the queue, and stops.

With PostgreSQL, any number of machines share the work: one with --role web, and as many
with --role worker as you like. A worker takes only runs that its machine can do.`

const serveExamples = `  pdpp serve                                   everything, on this machine
  pdpp serve --role worker --slots 20          one worker of many, over PDPP_DATABASE_URL
  pdpp serve --can network                     leave browser and local files to others
  pdpp workers                                 who is at work`

const (
	envSlots       = "PDPP_SLOTS"
	envPerProvider = "PDPP_SLOTS_PER_PROVIDER"
	envLeaseTTL    = "PDPP_LEASE_TTL"
	envLogFormat   = "PDPP_LOG_FORMAT"
	envLogLevel    = "PDPP_LOG_LEVEL"
	envPassword    = "PDPP_OWNER_PASSWORD"
	envMetrics     = "PDPP_METRICS_LISTEN"
	envProxies     = "PDPP_TRUSTED_PROXIES"
	envTraces      = "OTEL_EXPORTER_OTLP_ENDPOINT"

	envBackupFolder = "PDPP_BACKUP_FOLDER"
	envBackupEvery  = "PDPP_BACKUP_EVERY"
	envBackupKeep   = "PDPP_BACKUP_KEEP"

	// shortestPassphrase rejects passphrases that were entered by mistake.
	shortestPassphrase = 8

	// shortestLease allows a live worker two renewals on a busy machine.
	shortestLease = 2 * time.Second
)

// serveFlags are the flags of pdpp serve. Empty values come from the environment, then from the defaults.
type serveFlags struct {
	role, listen        string
	metricsListen       string
	slots, perProvider  int
	leaseTTL            time.Duration
	can                 []string
	logFormat, logLevel string
	logFile             string
	probe               bool
	// onReady is called when everything works, with the address and a newly created password. If nil, both are printed.
	onReady func(url, password string)
}

// NewServeCommand returns the command pdpp serve.
func NewServeCommand(inv *command.Invocation) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use: "serve", Short: "Collect by schedule, repair and push, until stopped", Long: serveHelp, Example: serveExamples,
		Args: arguments.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return runServer(cmd.Context(), inv, f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.role, "role", "all", "which parts run here: all, web or worker")
	flags.StringVar(&f.listen, "listen", "", "address for HTTP (PDPP_LISTEN, default "+command.DefaultListenAddress+
		"; a worker listens only if you set it)")
	flags.StringVar(&f.metricsListen, "metrics-listen", "",
		"address only for /metrics, without a token; a port without a host is on this machine (PDPP_METRICS_LISTEN)")
	flags.IntVar(&f.slots, "slots", 0, fmt.Sprintf("runs at once, per kind of work (PDPP_SLOTS, default %d)",
		scheduler.DefaultSlots))
	flags.IntVar(&f.perProvider, "slots-per-provider", 0,
		fmt.Sprintf("of those, how many one connector may have (PDPP_SLOTS_PER_PROVIDER, default %d)",
			scheduler.DefaultPerProvider))
	flags.DurationVar(&f.leaseTTL, "lease-ttl", 0,
		fmt.Sprintf("how soon a dead worker's run is taken over (PDPP_LEASE_TTL, default %v, at least %v)", launch.LeaseTTL,
			shortestLease))
	flags.StringSliceVar(&f.can, "can", nil, "what this machine runs: network, browser, local (default: what it has)")
	flags.BoolVar(&f.probe, "probe", false, "ask the server that runs here whether it works, and end with 0 or 1")
	flags.StringVar(&f.logFile, "log-file", "",
		"write everything that would be printed to this file, and keep the last 30 MB")
	flags.StringVar(&f.logFormat, "log-format", "", "text or json (PDPP_LOG_FORMAT, default text)")
	flags.StringVar(&f.logLevel, "log-level", "", "debug, info, warn or error (PDPP_LOG_LEVEL, default info)")
	return cmd
}

func runServer(ctx context.Context, inv *command.Invocation, f serveFlags) (err error) {
	if err := inv.RefuseServer(); err != nil {
		return err
	}
	if f.probe {
		return probeServer(ctx, inv, f)
	}
	if f.logFile != "" {
		log, err := systemservice.OpenLog(f.logFile)
		if err != nil {
			return failure.UsageError(err.Error(), "Correct the path after --log-file.")
		}
		defer log.Close()
		inv.Out, inv.ErrOut = log, log
	}
	c, err := newServerConfig(inv, &f)
	if err != nil {
		return err
	}
	var restored []string
	if c.Home, err = inv.HomeFolder(); err != nil {
		c.Home = "" // PostgreSQL needs none
	} else {
		restored = restrictFileModes(c.Home, c.Log)
	}
	st, err := inv.OpenStore(ctx, command.MayCreate)
	if err != nil {
		return err
	}
	c.Store = st
	c.Audit = audit.New(audit.Config{Store: st, Now: inv.Env.Now, Log: c.Log, By: audit.Actor{Kind: audit.Server}})
	defer func() {
		if closeErr := st.Close(); err == nil && closeErr != nil {
			err = fmt.Errorf("close the database: %w", closeErr)
		}
	}()
	if err := storeRestrictedModes(ctx, st, restored, inv.Env.Now()); err != nil {
		return err
	}
	var release func()
	if c.Database, release, err = openJobDatabase(ctx, inv, st); err != nil {
		return err
	}
	defer release()
	if err := loadSealingKeys(ctx, inv, &c); err != nil {
		return err
	}
	var password string
	if f.listen != "" {
		if password, err = openListener(ctx, inv, &c, f.listen); err != nil {
			return err
		}
	}
	if f.metricsListen != "" {
		if c.Metrics, err = server.Listen(ctx, loopbackByDefault(f.metricsListen), true); err != nil {
			return err
		}
	}
	c.Ready = func() { printReady(inv, &c, f.listen, password) }
	if f.onReady != nil {
		c.Ready = func() { f.onReady("http://"+c.Listener.Addr().String(), password) }
	}
	return serve.Run(ctx, c)
}

// openListener listens on the address and makes sure that the owner has a password. It returns the password if it has
// just been created. A rejected address creates none.
func openListener(ctx context.Context, inv *command.Invocation, c *serve.Config,
	listen string) (shown string, err error) {
	c.Auth = auth.New(auth.Config{Store: c.Store, Now: inv.Env.Now, Base: c.Base, HashCost: inv.Env.HashCost,
		Audit: c.Audit, Log: c.Log})
	if c.Role == serve.Worker { // answers for its health, and for its metrics to a token
		c.Listener, err = server.Listen(ctx, listen, true)
		return "", err
	}
	given, _, err := inv.Variable(envPassword)
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

// printReady reports that the server is ready.
func printReady(inv *command.Invocation, c *serve.Config, listen, password string) {
	if c.Listener != nil {
		listen = "http://" + c.Listener.Addr().String()
	}
	if inv.JSON {
		output.WriteJSON(inv.Out, map[string]any{"ready": true, "role": c.Role, "worker_id": c.Worker.ID,
			"capabilities": c.Worker.Capabilities, "url": listen, "owner_password": password})
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
	output.Printf(inv.Out, "PDPP is ready%s; %s.\n", at, does)
	if password != "" {
		output.Printf(inv.Out, "Sign in with this password, which is not shown again: %s\n", password)
	}
}

// loopbackByDefault turns a port without a host into a loopback address.
func loopbackByDefault(address string) string {
	if _, err := strconv.Atoi(address); err == nil {
		address = ":" + address
	}
	if strings.HasPrefix(address, ":") {
		return "127.0.0.1" + address
	}
	return address
}

// openJobDatabase opens the job queue in the store's own database.
func openJobDatabase(ctx context.Context, inv *command.Invocation, st store.Store) (scheduler.Database, func(), error) {
	url, err := inv.PostgresURL()
	if err != nil {
		return scheduler.Database{}, nil, err
	}
	if url == "" {
		return scheduler.Database{SQLite: st.(embeddedStore).Writer()}, func() {}, nil
	}
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return scheduler.Database{}, nil, failure.StorageError(ctx, err, "the database server")
	}
	postgres.LimitIdle(config.ConnConfig.RuntimeParams)
	config.MaxConns = 4 // one listens, the others fetch, complete and insert
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return scheduler.Database{}, nil, failure.StorageError(ctx, err, "the database server")
	}
	return scheduler.Database{Postgres: pool}, pool.Close, nil
}

// newServerLog returns the logger on standard error.
func newServerLog(inv *command.Invocation, f *serveFlags) (*slog.Logger, error) {
	format, level := logging.Text, slog.LevelInfo
	if f.logFormat != "" {
		format = logging.Format(f.logFormat)
	}
	if f.logLevel != "" {
		if err := level.UnmarshalText([]byte(f.logLevel)); err != nil {
			return nil, failure.UsageError("there is no log level "+strconv.Quote(f.logLevel), "Use debug, info, warn or error.")
		}
	}
	log, err := logging.New(inv.ErrOut, format, level)
	if err != nil {
		return nil, failure.UsageError("there is no log format "+strconv.Quote(f.logFormat), "Use text or json.")
	}
	return log, nil
}

// parseCapabilities returns the named capabilities, or those that the machine has.
func parseCapabilities(inv *command.Invocation, named []string) ([]string, error) {
	if len(named) == 0 {
		out := []string{string(scheduler.Network), string(scheduler.Local)}
		if _, ok := catalog.FindBrowser(inv.Env.LookPath); ok {
			out = append(out, string(scheduler.Browser))
		}
		return out, nil
	}
	for _, name := range named {
		if !slices.Contains(scheduler.Capabilities, scheduler.Capability(name)) {
			return nil, failure.UsageError("there is no kind of work called "+strconv.Quote(name),
				"Use network, browser or local.")
		}
	}
	return named, nil
}
