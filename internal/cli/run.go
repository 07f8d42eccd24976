package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/owner/service"
	"github.com/pdpp-go/pdpp/internal/schedule/scheduler"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

const runText = `Collects from a source in the foreground. The first run of a connector makes its
connection; later runs continue where the last one stopped.

Ctrl-C stops the run and keeps every finished slice; a second Ctrl-C leaves at once.
A connector gets the variables that its manifest declares, and nothing else of
your environment. For each of them a NAME_FILE variable is read too.

With --due it runs every connection whose schedule says so, one after the other,
goes on after a failure, and asks nobody anything. It is made for cron and
timers: call it every few minutes. Where "pdpp serve" runs it is not needed. The
exit code is 0 when all runs succeeded, or none was due.

A source that named a time before which it is not to be asked is left alone until
then, also by this command, which says so and starts nothing (provider_wait). Only
--ask-anyway asks it before; it may lock you out for longer.

With --now the run is not made here: the workers that "pdpp serve" starts are
asked for it. Add --wait to look on until it ends, and to leave with its outcome;
Ctrl-C then stops the looking on, and not the run (pdpp cancel does).`

const runExamples = `  pdpp run example                      collect here, in the foreground
  pdpp run example --stream cards       only one of its streams
  pdpp run example --resource cards=c7  only one record; bookmarks stay as they are
  pdpp run example --recovery-only      only retry what is missing
  pdpp run --due                        everything that is due
  pdpp run example --now --wait         let a worker run it, and look on`

// runFlags is what the owner asks of one run.
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

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use: "run CONNECTOR|CONNECTION", Short: "Collect from a source", Long: runText, Example: runExamples,
		Args: func(cmd *cobra.Command, args []string) error {
			if f.due {
				return noneWithDue(args)
			}
			return needArgs("the name of a connector or connection")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if !f.now {
				if err := a.refuseServer(); err != nil {
					return err
				}
			}
			if f.due {
				return a.runDue(cmd.Context(), f.verbose)
			}
			if f.verbose {
				return usage("--verbose says what --due skips", "Leave it out, or add --due.")
			}
			if f.wait && !f.now {
				return usage("--wait looks on at a run that a worker makes", "Leave it out, or add --now.")
			}
			if f.now {
				return a.runNow(cmd, args, f)
			}
			return a.run(cmd.Context(), args[0], f)
		},
	}
	a.connectionFlag(cmd, "which connection of the connector to run")
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
	flags.BoolVar(&f.askAnyway, "ask-anyway", false, "ask the source although it is to be left alone (provider_wait)")
	cmd.MarkFlagsMutuallyExclusive("due", "ask-anyway")
	flags.BoolVar(&f.wait, "wait", false, "with --now, look on until the run has ended")
	for _, other := range []string{"connection", "stream", "resource", "since", "until", "full-refresh", "recovery-only"} {
		cmd.MarkFlagsMutuallyExclusive("due", other)
	}
	for _, other := range []string{"due", "connection", "stream", "since", "until", "full-refresh"} {
		cmd.MarkFlagsMutuallyExclusive("now", other)
	}
	cmd.AddCommand(a.runShowCommand())
	return cmd
}

func (a *app) run(ctx context.Context, name string, f runFlags) (err error) {
	connectors, err := a.connectors()
	if err != nil {
		return err
	}
	silence, err := a.noProgress()
	if err != nil {
		return err
	}
	opened, err := a.openForRun(ctx, connectors, name)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := opened.Close(); err == nil && closeErr != nil {
			err = fmt.Errorf("close the database: %w", closeErr)
		}
	}()
	connectors = launch.AsChosen(connectors, opened)
	conn, err := a.target(ctx, opened, connectors, name)
	if err != nil {
		return err
	}
	if conn.Status == store.ConnectionRevoked {
		return revoked(conn.ID)
	}
	if conn.SourceKind == store.SourceLocalDevice { // here are other files than on the device
		return usage("A device of yours collects "+conn.ID+".", "Run it on the device: pdpp-local-collector run")
	}
	found, err := findConnector(ctx, connectors, conn.ConnectorID)
	if err != nil {
		return err
	}
	scope, err := scopeOf(found.Manifest, f)
	if err != nil {
		return err
	}
	if len(scope) > 0 {
		chosen, err := service.Selections(opened)(ctx, conn.ID)
		if err != nil {
			return err
		}
		if _, err := found.Manifest.Choose(scope, chosen.Profile, chosen.Views(), chosen.Deleted); err != nil {
			return usage(err.Error(), "Leave the stream out, or choose again what is collected: pdpp select "+conn.ID)
		}
	}
	if err := a.checkVariables(found.Manifest); err != nil {
		return err
	}

	display := a.newRunDisplay(conn)
	req := launch.Request{
		ConnectionID: conn.ID, Trigger: store.TriggerManual, Mode: protocol.Incremental, Scope: scope, RecoveryOnly: f.recoveryOnly, AskAnyway: f.askAnyway,
		Options: runner.Options{NoProgress: silence, Observe: display.observe}, Started: display.started,
	}
	if f.fullRefresh {
		req.Mode = protocol.FullRefresh
	}
	if p := a.newPrompter(display); p != nil {
		defer p.close()
		req.Ask = p.ask
	}
	s, err := a.collect(ctx, opened, conn, found, display, req)
	if err != nil {
		return err
	}
	if s.Status == runner.Succeeded {
		if err := scheduler.Settle(context.WithoutCancel(ctx), opened, conn.ID, s.RunID, a.env.Now()); err != nil {
			return fmt.Errorf("record the wait of %s: %w", conn.ID, err)
		}
	}
	if a.json {
		writeJSON(a.out, s)
	} else {
		a.printSummary(s)
	}
	if s.exit != ExitOK {
		return &exitOnly{s.exit}
	}
	return nil
}

// collect runs a connection to the end of the run, and sums it up.
func (a *app) collect(ctx context.Context, st store.Store, conn store.Connection, found catalog.Connector, display *runDisplay, req launch.Request) (summary, error) {
	launcher := launch.Launcher{
		Limits: service.LimitVariables(st), Selected: service.Selections(st), OnlyConfirmed: true,
		Store: st, Connectors: catalog.Fixed(found), Holder: a.env.Holder, Lookup: a.childVariable,
		Secrets: a.storedSecrets(st), Tokens: a.tokens(st), Bindings: a.bindings(), Now: a.env.Now,
	}
	home, err := a.homeDir()
	if err == nil {
		launcher.Locks = launch.RunLocksIn(home)
	}
	if launcher.Blobs, err = a.blobs(); err != nil {
		return summary{}, err
	}
	if err := a.giveBrowser(&launcher, st, found.Manifest); err != nil {
		return summary{}, err
	}
	sharing, alone := context.WithCancel(ctx)
	defer alone()
	a.shareAllowances(sharing, &launcher, st)
	began := a.env.Now()
	display.begin(ctx)
	result, err := launcher.Run(ctx, req)
	display.end()
	if err != nil {
		return summary{}, err
	}
	s := summarize(context.WithoutCancel(ctx), st, conn, found.Manifest, result)
	s.StartedAt, s.CompletedAt = began, a.env.Now()
	return s, nil
}

// openForRun opens the database, and makes it when the connector exists: a
// mistyped name leaves nothing behind.
func (a *app) openForRun(ctx context.Context, connectors catalog.Catalog, name string) (store.Store, error) {
	st, err := a.openStore(ctx, mustExist)
	var missing *Error
	if !errors.As(err, &missing) || missing.Code != codeStorageMissing {
		return st, err
	}
	if _, err := findConnector(ctx, connectors, name); err != nil {
		return nil, err
	}
	return a.openStore(ctx, mayCreate)
}

// offeredBindings are what PDPP can give a connector; the interactive one is added
// when there is somebody to ask.
var offeredBindings = map[string]jsontext.Value{
	string(manifest.BindingNetwork):    jsontext.Value("{}"),
	string(manifest.BindingFilesystem): jsontext.Value("{}"),
	string(manifest.BindingBrowser):    jsontext.Value("{}"),
}

// bindings are those of this machine: a browser only where there is one.
func (a *app) bindings() map[string]jsontext.Value {
	out := maps.Clone(offeredBindings)
	if _, ok := catalog.Browser(a.env.LookPath); !ok {
		delete(out, string(manifest.BindingBrowser))
	}
	return out
}
