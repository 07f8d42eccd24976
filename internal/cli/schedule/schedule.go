// Package schedule has the commands that show and set how often connections collect.
package schedule

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/judge/cadence"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/words"
)

const scheduleHelp = `Shows and changes when connections collect.

A schedule decides when a run is due. "pdpp serve" starts due runs. Without it, let
cron or a timer call "pdpp run --due" every few minutes.`

const scheduleExamples = `  pdpp schedule                             when each connection is due, or why not
  pdpp schedule set example --every 6h      collect every six hours
  pdpp schedule pause example               keep the schedule, start nothing
  pdpp serve                                start what is due, for as long as it runs
  pdpp run --due                            run what is due, once`

// NewScheduleCommand returns the command pdpp schedule.
func NewScheduleCommand(inv *command.Invocation) *cobra.Command {
	cmd := newScheduleListCommand(inv, "schedule", "Say when connections collect by themselves, and change it")
	cmd.Long, cmd.Example = scheduleHelp, scheduleExamples
	cmd.AddCommand(newScheduleListCommand(inv, "list", "List when each connection is due, or why it is not"),
		newScheduleSetCommand(inv),
		newScheduleSwitchCommand(inv, "pause", "Start no scheduled runs until you resume", false),
		newScheduleSwitchCommand(inv, "resume", "Let scheduled runs start again", true),
		newScheduleRemoveCommand(inv))
	return cmd
}

// ConnectionSchedule is a schedule with an explanation of its state.
type ConnectionSchedule struct {
	api.ConnectionSchedule
	Explanation string `json:"explanation"`
}

// Explain returns a schedule with its explanation.
func Explain(s api.ConnectionSchedule) ConnectionSchedule { return ConnectionSchedule{s, dueWords(s)} }

// WithReason returns the same schedule with another reason why it is not due.
func (r ConnectionSchedule) WithReason(why cadence.Reason, until *time.Time) ConnectionSchedule {
	s := r.ConnectionSchedule
	s.Due, s.RecoveryOnly, s.Why, s.NextAt = false, false, string(why), until
	return Explain(s)
}

// listSchedules returns the schedule of every connection.
func listSchedules(ctx context.Context, o api.Owner) ([]ConnectionSchedule, error) {
	all, err := o.Schedules(ctx)
	rows := make([]ConnectionSchedule, len(all))
	for i, s := range all {
		rows[i] = Explain(s)
	}
	return rows, err
}

func newScheduleListCommand(inv *command.Invocation, use, short string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: arguments.NoArguments,
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			all, err := listSchedules(ctx, o)
			return inv.Show(err, map[string]any{"schedules": all}, func() { printSchedules(inv, all) })
		}),
	}
}

func printSchedules(inv *command.Invocation, all []ConnectionSchedule) {
	if len(all) == 0 {
		output.Printf(inv.Out, "%s", command.FirstSteps)
		return
	}
	t := inv.NewTable("CONNECTION", "EVERY", "NEXT ATTEMPT", "WHY")
	for _, s := range all {
		every := "-"
		if s.EverySeconds > 0 {
			every = formatInterval(time.Duration(s.EverySeconds) * time.Second)
		}
		t.Row(s.ConnectionID, every, nextAttemptText(s.ConnectionSchedule), s.Explanation)
	}
	t.Flush()
}

// printSchedule prints the schedule after a change.
func printSchedule(ctx context.Context, inv *command.Invocation, o api.Owner, id string) error {
	all, err := listSchedules(ctx, o)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(s ConnectionSchedule) bool { return s.ConnectionID == id })
	if i < 0 {
		return failure.ConnectionRevoked(id)
	}
	return inv.Show(nil, all[i], func() {
		every := ""
		if s := all[i].Schedule; s != nil {
			every = text.Lower(words.RunInterval(s.IntervalSeconds)) + "; "
		}
		output.Printf(inv.Out, "%s: %snext attempt %s (%s)\n", id, every, nextAttemptText(all[i].ConnectionSchedule),
			output.SingleLine(all[i].Explanation))
	})
}

// newScheduleSwitchCommand returns the command that turns a schedule on or off.
func newScheduleSwitchCommand(inv *command.Invocation, use, short string, on bool) *cobra.Command {
	return &cobra.Command{
		Use: use + " CONNECTION", Short: short, Args: arguments.Required("the name of a connection"),
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			d, err := findScheduled(ctx, o, args[0])
			if err != nil {
				return err
			}
			if s := d.Plan.Schedule; s.Enabled != on {
				s.Enabled = on
				if d.Connector != nil { // it counts that way anyhow
					s.IntervalSeconds = max(s.IntervalSeconds, d.Connector.Refresh.MinimumSeconds)
				}
				if err := o.SetSchedule(ctx, d.ID, s); err != nil {
					return err
				}
			}
			return printSchedule(ctx, inv, o, d.ID)
		}),
	}
}

func newScheduleRemoveCommand(inv *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "remove CONNECTION", Short: "Remove a schedule; what was collected stays",
		Args: arguments.Required("the name of a connection"),
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			d, err := findScheduled(ctx, o, args[0])
			if err != nil {
				return err
			}
			if err := o.DeleteSchedule(ctx, d.ID); err != nil {
				return err
			}
			return printSchedule(ctx, inv, o, d.ID)
		}),
	}
}

// findScheduled returns a connection that has a schedule.
func findScheduled(ctx context.Context, o api.Owner, name string) (api.Detail, error) {
	d, err := command.ConnectionDetail(ctx, o, name)
	if err == nil && d.Plan == nil {
		err = &failure.Error{
			Code: "no_schedule", Exit: failure.ExitNotFound, Message: "connection " + d.ID + " has no schedule",
			Next: "Set one: pdpp schedule set " + d.ID + " --every 6h",
		}
	}
	return d, err
}
