package maintenance

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/doctor"
	"github.com/pdpp-go/pdpp/internal/schedule/scheduler"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

const doctorHelp = `Checks the installation: the database, the disk, the key, the connectors, what each
connection needs, and whether a worker collects what is scheduled. It changes nothing.
For each problem it shows how to fix it.

The exit code is 0 if nothing failed; warnings can wait. To see how well collecting
works, use "pdpp status".`

const doctorExamples = `  pdpp doctor           everything that was looked at
  pdpp doctor --json    the same for a script`

// NewDoctorCommand returns the command pdpp doctor.
func NewDoctorCommand(inv *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Check the installation and show how to fix it", Long: doctorHelp, Example: doctorExamples,
		Args: arguments.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := inv.RefuseServer(); err != nil {
				return err
			}
			findings, err := runAllChecks(cmd.Context(), inv)
			if err != nil {
				return err
			}
			printFindings(inv, findings)
			if slices.ContainsFunc(findings, func(f doctor.Finding) bool { return f.Status == doctor.Fail }) {
				return &failure.ExitError{Code: failure.ExitFailed}
			}
			return nil
		},
	}
}

// runAllChecks runs every check, even if parts of the configuration are wrong.
func runAllChecks(ctx context.Context, inv *command.Invocation) ([]doctor.Finding, error) {
	home, err := inv.HomeFolder()
	if err != nil {
		return nil, err
	}
	var opened store.Store
	var browserErr error
	var wrong []doctor.Finding
	c := doctor.Config{
		Home: home, Lookup: inv.ChildVariable, WorkerAlive: scheduler.Alive, Now: inv.Env.Now, LookPath: inv.Env.LookPath,
		Open: func(ctx context.Context) (st store.Store, err error) {
			opened, err = inv.OpenStore(ctx, command.MustExist)
			return opened, describeOrNil(err)
		},
	}
	if files, err := inv.Blobs(); err == nil { // every run reports an invalid limit
		c.Files = files.Place
	}
	if url, err := inv.PostgresURL(); err == nil && url != "" {
		c.DatabaseNow = func(ctx context.Context) (time.Time, error) { return opened.Clock(ctx) }
	}
	connectors, err := inv.Connectors()
	connectors.Choices = func(ctx context.Context, key string) (catalog.Choice, error) {
		if opened == nil {
			return catalog.Choice{}, nil // the database check has reported that it does not open
		}
		return launch.AsChosen(connectors, opened).Choices(ctx, key)
	}
	if c.Browsers, browserErr = inv.BrowserProfiles(); c.Browsers != nil && connectors.Host != "" {
		c.TryBrowser = func(ctx context.Context) error {
			_, err := c.Browsers.Try(ctx, connectors.Host)
			return err
		}
	}
	c.Connectors = connectors
	if err != nil {
		c.Connectors = failingCatalog{describeOrNil(err)}
	}
	if browserErr != nil {
		e := failure.Describe(browserErr)
		wrong = append(wrong, doctor.Finding{Check: doctor.CheckBrowser, Status: doctor.Fail, Message: e.Message,
			Fix: e.Next})
	}
	var keyErr error
	if c.Key, _, keyErr = inv.ConfiguredKey(); keyErr == nil {
		return append(doctor.Run(ctx, c), wrong...), ctx.Err()
	}
	findings := slices.DeleteFunc(doctor.Run(ctx, c), func(f doctor.Finding) bool { return f.Check == doctor.CheckKey })
	e := failure.Describe(keyErr)
	return append(append(findings, wrong...),
		doctor.Finding{Check: doctor.CheckKey, Status: doctor.Fail, Message: e.Message, Fix: e.Next}), ctx.Err()
}

func printFindings(inv *command.Invocation, findings []doctor.Finding) {
	if inv.JSON {
		output.WriteJSON(inv.Out, map[string]any{"findings": findings})
		return
	}
	for _, f := range findings {
		output.Printf(inv.Out, "%-4s  %-11s  %s\n", f.Status, f.Check, output.SingleLine(f.Message))
		if f.Fix != "" {
			output.Printf(inv.Out, "%s%s\n", strings.Repeat(" ", 19), output.SingleLine(f.Fix))
		}
	}
}

// describeOrNil returns the printable form of an error.
func describeOrNil(err error) error {
	if err == nil {
		return nil
	}
	return failure.Describe(err)
}

// failingCatalog replaces the connectors when the configuration does not allow to find them.
type failingCatalog struct{ err error }

func (c failingCatalog) List(context.Context) ([]catalog.Installed, error) { return nil, c.err }
