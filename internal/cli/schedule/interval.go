package schedule

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const scheduleSetHelp = `Sets how often a connection collects. The new schedule replaces the old one; a paused
schedule stays paused.

With --jitter every run starts later by a time up to this one, different for each
connection, so that many of them do not start together. Without it the jitter stays as
it was; --jitter 0 removes it.`

// shortestInterval is the shortest interval that a timer with one check per minute can keep.
const shortestInterval = time.Minute

// intervalFlags are the flags of pdpp schedule set. Jitter is nil if the flag was not used.
type intervalFlags struct {
	every  time.Duration
	jitter *time.Duration
}

func newScheduleSetCommand(inv *command.Invocation) *cobra.Command {
	var f intervalFlags
	var jitter time.Duration
	cmd := &cobra.Command{
		Use: "set CONNECTION --every SPAN", Short: "Set how often a connection collects", Long: scheduleSetHelp,
		Args: arguments.Required("the name of a connection"),
		PreRun: func(cmd *cobra.Command, _ []string) {
			if cmd.Flags().Changed("jitter") {
				f.jitter = &jitter
			}
		},
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			return setSchedule(ctx, inv, o, args[0], f)
		}),
	}
	cmd.Flags().DurationVar(&f.every, "every", 0, "time between the starts of two runs, like 30m or 6h")
	cmd.Flags().DurationVar(&jitter, "jitter", 0, "start up to so much later, like 10m")
	return cmd
}

// setSchedule sets the interval. Values without a flag stay as they are.
func setSchedule(ctx context.Context, inv *command.Invocation, o api.Owner, name string, f intervalFlags) error {
	d, err := command.ConnectionDetail(ctx, o, name)
	if err != nil {
		return err
	}
	if err := checkInterval(f, d.Connector); err != nil {
		return err
	}
	s := api.Schedule{Enabled: true}
	if d.Plan != nil {
		s = d.Plan.Schedule
	}
	s.IntervalSeconds = int64(f.every / time.Second)
	if f.jitter != nil {
		s.JitterSeconds = int64(*f.jitter / time.Second)
	}
	s.JitterSeconds = min(s.JitterSeconds, s.IntervalSeconds)
	if err := o.SetSchedule(ctx, d.ID, s); err != nil {
		return err
	}
	return printSchedule(ctx, inv, o, d.ID)
}

// checkInterval validates the flags. The owner's service enforces the limits of the connector.
func checkInterval(f intervalFlags, connector *api.Connector) error {
	advice := "Write a span, like --every 6h."
	if connector != nil && connector.Refresh.RecommendedSeconds > 0 {
		advice = "The connector recommends --every " +
			formatInterval(time.Duration(connector.Refresh.RecommendedSeconds)*time.Second) + "."
	}
	switch {
	case f.every == 0:
		return failure.UsageError("--every is missing", advice)
	case f.every < shortestInterval || f.every%time.Second != 0:
		return failure.UsageError("--every "+f.every.String()+" is not a rhythm", "Use whole seconds, and a minute or more. "+
			advice)
	case f.jitter != nil && (*f.jitter < 0 || *f.jitter > f.every || *f.jitter%time.Second != 0):
		return failure.UsageError("--jitter "+f.jitter.String()+" does not fit", "Use whole seconds, from 0 to the "+
			formatInterval(f.every)+" of --every.")
	default:
		return nil
	}
}
