package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/doctor"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/schedule/scheduler"
)

const doctorText = `Looks over the installation: the database, the disk, the key, the connectors,
what each connection needs, and whether anybody collects what is scheduled. It
changes nothing. What is not in order comes with the way to fix it.

The exit code is 0 when nothing failed; warnings are for later. How well
collecting goes is the matter of "pdpp status".`

const doctorExamples = `  pdpp doctor           everything that was looked at
  pdpp doctor --json    the same for a script`

func (a *app) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Look over the installation, and say how to fix it", Long: doctorText, Example: doctorExamples,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.refuseServer(); err != nil {
				return err
			}
			findings, err := a.examine(cmd.Context())
			if err != nil {
				return err
			}
			a.printFindings(findings)
			if slices.ContainsFunc(findings, func(f doctor.Finding) bool { return f.Status == doctor.Fail }) {
				return &exitOnly{ExitFailed}
			}
			return nil
		},
	}
}

// examine makes every check, also over a configuration that is wrong in parts.
func (a *app) examine(ctx context.Context) ([]doctor.Finding, error) {
	home, err := a.homeDir()
	if err != nil {
		return nil, err
	}
	var opened store.Store
	var browserErr error
	var wrong []doctor.Finding
	c := doctor.Config{
		Home: home, Lookup: a.childVariable, WorkerAlive: scheduler.Alive, Now: a.env.Now, LookPath: a.env.LookPath,
		Open: func(ctx context.Context) (st store.Store, err error) {
			opened, err = a.openStore(ctx, mustExist)
			return opened, plainly(err)
		},
	}
	if files, err := a.blobs(); err == nil { // a limit that is none, every run tells
		c.Files = files.Place
	}
	if url, err := a.postgresURL(); err == nil && url != "" {
		c.DatabaseNow = func(ctx context.Context) (time.Time, error) { return opened.Clock(ctx) }
	}
	connectors, err := a.connectors()
	connectors.Chosen = func(ctx context.Context, name string) (string, error) {
		if opened == nil {
			return "", nil // that it does not open was told
		}
		return launch.AsChosen(connectors, opened).Chosen(ctx, name)
	}
	if c.Browsers, browserErr = a.browsers(); c.Browsers != nil && connectors.Host != "" {
		c.TryBrowser = func(ctx context.Context) error {
			_, err := c.Browsers.Try(ctx, connectors.Host)
			return err
		}
	}
	c.Connectors = connectors
	if err != nil {
		c.Connectors = brokenCatalog{plainly(err)}
	}
	if browserErr != nil {
		e := describe(browserErr)
		wrong = append(wrong, doctor.Finding{Check: doctor.CheckBrowser, Status: doctor.Fail, Message: e.Message,
			Fix: e.Next})
	}
	var keyErr error
	if c.Key, _, keyErr = a.configuredKey(); keyErr == nil {
		return append(doctor.Run(ctx, c), wrong...), ctx.Err()
	}
	findings := slices.DeleteFunc(doctor.Run(ctx, c), func(f doctor.Finding) bool { return f.Check == doctor.CheckKey })
	e := describe(keyErr)
	return append(append(findings, wrong...),
		doctor.Finding{Check: doctor.CheckKey, Status: doctor.Fail, Message: e.Message, Fix: e.Next}), ctx.Err()
}

func (a *app) printFindings(findings []doctor.Finding) {
	if a.json {
		writeJSON(a.out, map[string]any{"findings": findings})
		return
	}
	for _, f := range findings {
		printf(a.out, "%-4s  %-11s  %s\n", f.Status, f.Check, oneLine(f.Message))
		if f.Fix != "" {
			printf(a.out, "%s%s\n", strings.Repeat(" ", 19), oneLine(f.Fix))
		}
	}
}

// plainly is an error as what is shown of it.
func plainly(err error) error {
	if err == nil {
		return nil
	}
	return describe(err)
}

// brokenCatalog stands for connectors that the configuration keeps from being found.
type brokenCatalog struct{ err error }

func (c brokenCatalog) List(context.Context) ([]catalog.Entry, error) { return nil, c.err }
