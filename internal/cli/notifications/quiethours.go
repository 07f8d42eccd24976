package notifications

import (
	"context"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const quietHoursHelp = `Sets the daily hours without notifications. Notifications wait until the hours end. The
hours are in your time zone, including summer time.`

func newQuietHoursCommand(inv *command.Invocation) *cobra.Command {
	var zone string
	cmd := &cobra.Command{
		Use: "quiet HH:MM-HH:MM|off", Short: "Set the hours without notifications", Long: quietHoursHelp,
		Example: "  pdpp notify quiet 22:00-07:00 --zone Europe/Berlin\n  pdpp notify quiet off",
		Args:    arguments.Required("a window like 22:00-07:00, or off"),
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			window, err := quietWindow(inv, args[0], zone)
			if err != nil {
				return err
			}
			if err := o.SetQuietHours(ctx, window); err != nil {
				return err
			}
			quiet, err := o.QuietHours(ctx)
			return inv.Show(err, map[string]any{"quiet_hours": quiet}, func() { printQuietHours(inv, quiet) })
		}),
	}
	cmd.Flags().StringVar(&zone, "zone", "", "your time zone, like Europe/Berlin (default: this machine's)")
	return cmd
}

// quietWindow returns the window with its time zone, or "" for none.
func quietWindow(inv *command.Invocation, window, zone string) (string, error) {
	if window == "off" {
		return "", nil
	}
	if zone == "" {
		if zone = machineTimeZone(inv); zone == "" {
			return "", failure.UsageError("this machine does not tell its time zone", "Name yours, like --zone Europe/Berlin.")
		}
	}
	return window + " " + zone, nil
}

// machineTimeZone returns the name of this machine's time zone, or "" if it has none.
func machineTimeZone(inv *command.Invocation) string {
	if zone, _ := inv.Env.Lookup("TZ"); zone != "" {
		return strings.TrimPrefix(zone, ":")
	}
	link, err := os.Readlink("/etc/localtime")
	if err != nil {
		return ""
	}
	_, zone, _ := strings.Cut(link, "/zoneinfo/")
	return zone
}

func printQuietHours(inv *command.Invocation, quiet string) {
	if quiet == "" {
		output.Printf(inv.Out, "There are no quiet hours.\n")
		return
	}
	output.Printf(inv.Out, "Quiet hours: %s\n", quiet)
}
