package cli

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/judge/cadence"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const scheduleText = `Say when connections collect by themselves, and change it.

A schedule says when a run is due. "pdpp serve" starts what is due by itself.
Without it, let cron or a timer call "pdpp run --due" every few minutes.`

const scheduleExamples = `  pdpp schedule                             when each connection is due, or why not
  pdpp schedule set example --every 6h      collect every six hours
  pdpp schedule pause example               keep the schedule, start nothing
  pdpp serve                                start what is due, for as long as it runs
  pdpp run --due                            run what is due, once`

func (a *app) scheduleCommand() *cobra.Command {
	cmd := a.scheduleListCommand("schedule", "Say when connections collect by themselves, and change it")
	cmd.Long, cmd.Example = scheduleText, scheduleExamples
	cmd.AddCommand(a.scheduleListCommand("list", "List when each connection is due, or why it is not"), a.scheduleSetCommand(),
		a.scheduleSwitchCommand("pause", "Start no scheduled runs until you resume", false),
		a.scheduleSwitchCommand("resume", "Let scheduled runs start again", true),
		a.scheduleRemoveCommand())
	return cmd
}

// scheduleRow is a schedule with the words that are said of it.
type scheduleRow struct {
	api.ConnectionSchedule
	Words string `json:"explanation"`
}

func newScheduleRow(s api.ConnectionSchedule) scheduleRow { return scheduleRow{s, dueWords(s)} }

// because is the same connection, kept from its run by something else.
func (r scheduleRow) because(why cadence.Reason, until *time.Time) scheduleRow {
	s := r.ConnectionSchedule
	s.Due, s.RecoveryOnly, s.Why, s.NextAt = false, false, string(why), until
	return newScheduleRow(s)
}

// scheduleRows gives every connection with the words of its schedule.
func scheduleRows(ctx context.Context, o api.Owner) ([]scheduleRow, error) {
	all, err := o.Schedules(ctx)
	rows := make([]scheduleRow, len(all))
	for i, s := range all {
		rows[i] = newScheduleRow(s)
	}
	return rows, err
}

func (a *app) scheduleListCommand(use, short string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: noArgs,
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			all, err := scheduleRows(ctx, o)
			if err != nil {
				return err
			}
			a.printSchedules(all)
			return nil
		}),
	}
}

func (a *app) printSchedules(all []scheduleRow) {
	if a.json {
		writeJSON(a.out, map[string]any{"schedules": all})
		return
	}
	if len(all) == 0 {
		printf(a.out, "%s", beginText)
		return
	}
	t := a.table("CONNECTION", "EVERY", "NEXT ATTEMPT", "WHY")
	for _, s := range all {
		every := "-"
		if s.EverySeconds > 0 {
			every = rhythm(time.Duration(s.EverySeconds) * time.Second)
		}
		t.row(s.ConnectionID, every, nextWords(s.ConnectionSchedule), s.Words)
	}
	t.flush()
}

// tellSchedule says what holds after a change.
func (a *app) tellSchedule(ctx context.Context, o api.Owner, id string) error {
	all, err := scheduleRows(ctx, o)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(s scheduleRow) bool { return s.ConnectionID == id })
	if i < 0 {
		return revoked(id)
	}
	if a.json {
		writeJSON(a.out, all[i])
		return nil
	}
	every := ""
	if s := all[i].Schedule; s != nil {
		every = "every " + rhythm(time.Duration(s.IntervalSeconds)*time.Second) + "; "
	}
	printf(a.out, "%s: %snext attempt %s (%s)\n", id, every, nextWords(all[i].ConnectionSchedule), oneLine(all[i].Words))
	return nil
}

// byName tells how these commands take the name of a connection.
const byName = "Choose one by its id: "

// scheduleSwitchCommand turns a schedule on or off.
func (a *app) scheduleSwitchCommand(use, short string, on bool) *cobra.Command {
	return &cobra.Command{
		Use: use + " CONNECTION", Short: short, Args: needArgs("the name of a connection"),
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			d, err := scheduled(ctx, o, args[0])
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
			return a.tellSchedule(ctx, o, d.ID)
		}),
	}
}

func (a *app) scheduleRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "remove CONNECTION", Short: "Remove a schedule; what was collected stays", Args: needArgs("the name of a connection"),
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			d, err := scheduled(ctx, o, args[0])
			if err != nil {
				return err
			}
			if err := o.DeleteSchedule(ctx, d.ID); err != nil {
				return err
			}
			return a.tellSchedule(ctx, o, d.ID)
		}),
	}
}

// scheduled gives a connection that has a schedule.
func scheduled(ctx context.Context, o api.Owner, name string) (api.Detail, error) {
	d, err := detailOf(ctx, o, name)
	if err == nil && d.Plan == nil {
		err = &Error{
			Code: "no_schedule", Exit: ExitNotFound, Message: "connection " + d.ID + " has no schedule",
			Next: "Set one: pdpp schedule set " + d.ID + " --every 6h",
		}
	}
	return d, err
}

// detailOf gives all of the connection that a name means.
func detailOf(ctx context.Context, o api.Owner, name string) (api.Detail, error) {
	conn, err := pickOwned(ctx, o, name, byName)
	if err != nil {
		return api.Detail{}, err
	}
	return o.Connection(ctx, conn.ID)
}
