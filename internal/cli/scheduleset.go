package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const scheduleSetText = `Set how often a connection collects by itself. Setting it again replaces it; a
schedule that you paused stays paused.

With --jitter every run starts up to so much later, by a different time for each
connection, so that many of them do not start together. Without it the jitter
stays as it was; --jitter 0 removes it.`

// shortestEvery is what a timer that asks once a minute can keep.
const shortestEvery = time.Minute

// rhythmFlags are the spans that the owner gives; jitter is nil when it was not given.
type rhythmFlags struct {
	every  time.Duration
	jitter *time.Duration
}

func (a *app) scheduleSetCommand() *cobra.Command {
	var f rhythmFlags
	var jitter time.Duration
	cmd := &cobra.Command{
		Use: "set CONNECTION --every SPAN", Short: "Set how often a connection collects by itself", Long: scheduleSetText,
		Args: needArgs("the name of a connection"),
		PreRun: func(cmd *cobra.Command, _ []string) {
			if cmd.Flags().Changed("jitter") {
				f.jitter = &jitter
			}
		},
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			return a.setSchedule(ctx, o, args[0], f)
		}),
	}
	cmd.Flags().DurationVar(&f.every, "every", 0, "time between the starts of two runs, like 30m or 6h")
	cmd.Flags().DurationVar(&jitter, "jitter", 0, "start up to so much later, like 10m")
	return cmd
}

// setSchedule sets a rhythm; what was not said stays as it is.
func (a *app) setSchedule(ctx context.Context, o api.Owner, name string, f rhythmFlags) error {
	d, err := detailOf(ctx, o, name)
	if err != nil {
		return err
	}
	if err := checkRhythm(f, d.Connector); err != nil {
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
	return a.tellSchedule(ctx, o, d.ID)
}

// checkRhythm holds what was written to what a schedule can say. What the connector
// allows is the owner's service to tell.
func checkRhythm(f rhythmFlags, connector *api.Connector) error {
	advice := "Write a span, like --every 6h."
	if connector != nil && connector.Refresh.RecommendedSeconds > 0 {
		advice = "The connector recommends --every " + rhythm(time.Duration(connector.Refresh.RecommendedSeconds)*time.Second) + "."
	}
	switch {
	case f.every == 0:
		return usage("--every is missing", advice)
	case f.every < shortestEvery || f.every%time.Second != 0:
		return usage("--every "+f.every.String()+" is not a rhythm", "Use whole seconds, and a minute or more. "+advice)
	case f.jitter != nil && (*f.jitter < 0 || *f.jitter > f.every || *f.jitter%time.Second != 0):
		return usage("--jitter "+f.jitter.String()+" does not fit", "Use whole seconds, from 0 to the "+rhythm(f.every)+" of --every.")
	default:
		return nil
	}
}
