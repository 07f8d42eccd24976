package cli

import (
	"context"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const notifyQuietText = `Sets the daily hours in which you are not told. What comes up meanwhile waits for
their end. They are those of the clock in your time zone, summer time included.`

func (a *app) notifyQuietCommand() *cobra.Command {
	var zone string
	cmd := &cobra.Command{
		Use: "quiet HH:MM-HH:MM|off", Short: "Set the hours in which you are not told", Long: notifyQuietText,
		Example: "  pdpp notify quiet 22:00-07:00 --zone Europe/Berlin\n  pdpp notify quiet off",
		Args:    needArgs("a window like 22:00-07:00, or off"),
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			window, err := a.quietWindow(args[0], zone)
			if err != nil {
				return err
			}
			if err := o.SetQuietHours(ctx, window); err != nil {
				return err
			}
			quiet, err := o.QuietHours(ctx)
			if err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, map[string]any{"quiet_hours": quiet})
				return nil
			}
			a.printQuiet(quiet)
			return nil
		}),
	}
	cmd.Flags().StringVar(&zone, "zone", "", "your time zone, like Europe/Berlin (default: this machine's)")
	return cmd
}

// quietWindow is the window with its time zone; empty means none.
func (a *app) quietWindow(window, zone string) (string, error) {
	if window == "off" {
		return "", nil
	}
	if zone == "" {
		if zone = a.machineZone(); zone == "" {
			return "", usage("this machine does not tell its time zone", "Name yours, like --zone Europe/Berlin.")
		}
	}
	return window + " " + zone, nil
}

// machineZone is the name of this machine's time zone; empty when it has none.
func (a *app) machineZone() string {
	if zone, _ := a.env.Lookup("TZ"); zone != "" {
		return strings.TrimPrefix(zone, ":")
	}
	link, err := os.Readlink("/etc/localtime")
	if err != nil {
		return ""
	}
	_, zone, _ := strings.Cut(link, "/zoneinfo/")
	return zone
}

func (a *app) printQuiet(quiet string) {
	if quiet == "" {
		printf(a.out, "There are no quiet hours.\n")
		return
	}
	printf(a.out, "Quiet hours: %s\n", quiet)
}
