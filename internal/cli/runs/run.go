// Package runs has the commands that start, follow, list and stop runs, in the foreground and through workers.
package runs

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/owner/service"
	"github.com/pdpp-go/pdpp/internal/schedule/scheduler"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

const runHelp = `Collects from a source in the foreground. The first run of a connector creates its
connection; later runs continue where the last one stopped.

Ctrl-C stops the run and keeps every finished slice; a second Ctrl-C exits at once.
A connector gets the variables that its manifest declares, and nothing else of
your environment. For each of them a NAME_FILE variable is read too.

With --due it runs every connection that is due, one after the other, continues after
a failure, and asks no questions. It is made for cron and timers: call it every few
minutes. You do not need it while "pdpp serve" runs. The exit code is 0 if all runs
succeeded, or none was due.

If a source asked PDPP to wait until a certain time, this command waits too: it says so
and starts nothing (provider_wait). Only --ask-anyway asks the source earlier; the source
may then lock you out for longer.

With --now the workers of "pdpp serve" make the run instead. Add --wait to watch until
it ends and to exit with its result. Ctrl-C then stops only the watching; pdpp cancel
stops the run.`

const runExamples = `  pdpp run example                      collect here, in the foreground
  pdpp run example --stream cards       only one of its streams
  pdpp run example --resource cards=c7  only one record; bookmarks stay as they are
  pdpp run example --recovery-only      only retry what is missing
  pdpp run --due                        everything that is due
  pdpp run example --now --wait         let a worker run it, and look on`

// runFlags are the flags of pdpp run.
type runFlags struct {
	streams      []string
	resources    []string
	since, until string
	fullRefresh  bool
	recoveryOnly bool
	due, verbose bool
	now, wait    bool
	askAnyway    bool
}

// NewRunCommand returns the command pdpp run.
func NewRunCommand(inv *command.Invocation) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use: "run CONNECTOR|CONNECTION", Short: "Collect from a source", Long: runHelp, Example: runExamples,
		Args: func(cmd *cobra.Command, args []string) error {
			if f.due {
				return rejectNamesWithDue(args)
			}
			return arguments.Required("the name of a connector or connection")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if !f.now {
				if err := inv.RefuseServer(); err != nil {
					return err
				}
			}
			if f.due {
				return runDueConnections(cmd.Context(), inv, f.verbose)
			}
			if f.verbose {
				return failure.UsageError("--verbose says what --due skips", "Leave it out, or add --due.")
			}
			if f.wait && !f.now {
				return failure.UsageError("--wait looks on at a run that a worker makes", "Leave it out, or add --now.")
			}
			if f.now {
				return requestFromWorkers(inv, cmd, args, f)
			}
			return runForeground(cmd.Context(), inv, args[0], f)
		},
	}
	inv.ConnectionFlag(cmd, "which connection of the connector to run")
	flags := cmd.Flags()
	flags.StringSliceVar(&f.streams, "stream", nil, "collect only this stream (may be repeated)")
	flags.StringArrayVar(&f.resources, "resource", nil, "collect only this record, as STREAM=KEY (may be repeated)")
	flags.StringVar(&f.since, "since", "", "collect only from this time on (RFC 3339 or a date)")
	flags.StringVar(&f.until, "until", "", "collect only before this time")
	flags.BoolVar(&f.fullRefresh, "full-refresh", false, "start from the beginning instead of the bookmarks")
	flags.BoolVar(&f.recoveryOnly, "recovery-only", false, "only retry gaps, collect nothing new")
	cmd.MarkFlagsMutuallyExclusive("full-refresh", "recovery-only")
	cmd.MarkFlagsMutuallyExclusive("resource", "recovery-only")
	flags.BoolVar(&f.due, "due", false, "run every connection that is due; for cron and timers")
	flags.BoolVar(&f.verbose, "verbose", false, "with --due, say what is skipped and why")
	flags.BoolVar(&f.now, "now", false, "let a worker make the run")
	flags.BoolVar(&f.askAnyway, "ask-anyway", false, "ask the source although it asked for a pause (provider_wait)")
	cmd.MarkFlagsMutuallyExclusive("due", "ask-anyway")
	flags.BoolVar(&f.wait, "wait", false, "with --now, look on until the run has ended")
	for _, other := range []string{"connection", "stream", "resource", "since", "until", "full-refresh", "recovery-only"} {
		cmd.MarkFlagsMutuallyExclusive("due", other)
	}
	for _, other := range []string{"due", "connection", "stream", "since", "until", "full-refresh"} {
		cmd.MarkFlagsMutuallyExclusive("now", other)
	}
	cmd.AddCommand(newRunShowCommand(inv))
	return cmd
}

func runForeground(ctx context.Context, inv *command.Invocation, name string, f runFlags) (err error) {
	connectors, err := inv.Connectors()
	if err != nil {
		return err
	}
	silence, err := inv.NoProgressLimit()
	if err != nil {
		return err
	}
	opened, err := openStoreForRun(ctx, inv, connectors, name)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := opened.Close(); err == nil && closeErr != nil {
			err = fmt.Errorf("close the database: %w", closeErr)
		}
	}()
	connectors = launch.AsChosen(connectors, opened)
	conn, err := findOrAddConnection(ctx, inv, opened, connectors, name)
	if err != nil {
		return err
	}
	if conn.Status == store.ConnectionRevoked {
		return failure.ConnectionRevoked(conn.ID)
	}
	if conn.SourceKind == store.SourceLocalDevice { // here are other files than on the device
		return failure.UsageError("One of your devices collects "+conn.ID+".",
			"Run it on the device: pdpp-local-collector run")
	}
	found, err := command.FindConnector(ctx, connectors, conn.ConnectorID)
	if err != nil {
		return err
	}
	scope, err := parseScope(found.Manifest, f)
	if err != nil {
		return err
	}
	if len(scope) > 0 {
		chosen, err := service.Selections(opened)(ctx, conn.ID)
		if err != nil {
			return err
		}
		if _, err := found.Manifest.Choose(scope, chosen.Profile, chosen.Views(), chosen.Deleted); err != nil {
			return failure.UsageError(err.Error(), "Leave the stream out, or choose again what is collected: pdpp select "+
				conn.ID)
		}
	}
	if err := inv.CheckVariables(found.Manifest); err != nil {
		return err
	}

	display := newRunDisplay(inv, conn)
	req := launch.RunRequest{
		ConnectionID: conn.ID, Trigger: store.TriggerManual, Mode: protocol.Incremental, Scope: scope,
		RecoveryOnly: f.recoveryOnly, AskAnyway: f.askAnyway,
		Options: runner.Options{NoProgress: silence, Observe: display.observe}, Started: display.started,
	}
	if f.fullRefresh {
		req.Mode = protocol.FullRefresh
	}
	if p := inv.NewPrompter(display); p != nil {
		defer p.Close()
		req.Ask = p.Ask
	}
	s, err := collectConnection(ctx, inv, opened, conn, found, display, req)
	if err != nil {
		return err
	}
	if s.Status == runner.Succeeded {
		if err := scheduler.RecordBackoff(context.WithoutCancel(ctx), opened, conn.ID, s.RunID, inv.Env.Now()); err != nil {
			return fmt.Errorf("record the wait of %s: %w", conn.ID, err)
		}
	}
	if inv.JSON {
		output.WriteJSON(inv.Out, s)
	} else {
		printSummary(inv, s)
	}
	if s.exit != failure.ExitOK {
		return &failure.ExitError{Code: s.exit}
	}
	return nil
}

// collectConnection executes a run and summarizes it.
func collectConnection(ctx context.Context, inv *command.Invocation, st store.Store, conn store.Connection,
	found catalog.Connector, display *runDisplay, req launch.RunRequest) (runSummary, error) {
	launcher := launch.Launcher{
		Limits: service.LimitVariables(st), Selected: service.Selections(st), OnlyConfirmed: true,
		Store: st, Connectors: catalog.Fixed(found), Holder: inv.Env.Holder, Lookup: inv.ChildVariable,
		Secrets: inv.StoredSecrets(st), Tokens: inv.ProviderTokens(st), Bindings: inv.AvailableBindings(), Now: inv.Env.Now,
	}
	home, err := inv.HomeFolder()
	if err == nil {
		launcher.Locks = launch.RunLocksIn(home)
	}
	if launcher.Blobs, err = inv.Blobs(); err != nil {
		return runSummary{}, err
	}
	if err := inv.AttachBrowser(&launcher, st, found.Manifest); err != nil {
		return runSummary{}, err
	}
	sharing, alone := context.WithCancel(ctx)
	defer alone()
	joinSharedQuota(sharing, inv, &launcher, st)
	began := inv.Env.Now()
	display.begin(ctx)
	result, err := launcher.Run(ctx, req)
	display.end()
	if err != nil {
		return runSummary{}, err
	}
	s := newRunSummary(context.WithoutCancel(ctx), st, conn, found.Manifest, result)
	s.StartedAt, s.CompletedAt = began, inv.Env.Now()
	return s, nil
}

// openStoreForRun opens the database. It creates one only if the connector exists, so that a mistyped name leaves
// nothing behind.
func openStoreForRun(ctx context.Context, inv *command.Invocation, connectors catalog.Catalog,
	name string) (store.Store, error) {
	st, err := inv.OpenStore(ctx, command.MustExist)
	var missing *failure.Error
	if !errors.As(err, &missing) || missing.Code != command.CodeStorageMissing {
		return st, err
	}
	if _, err := command.FindConnector(ctx, connectors, name); err != nil {
		return nil, err
	}
	return inv.OpenStore(ctx, command.MayCreate)
}
