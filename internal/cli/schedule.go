package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"pdpp/internal/judge/cadence"
	"pdpp/internal/judge/evidence"
	"pdpp/internal/keep/store"
	"pdpp/internal/owner/api"
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

// scheduleRow is a connection's schedule and what it means now.
type scheduleRow struct {
	ConnectionID string             `json:"connection_id"`
	ConnectorID  string             `json:"connector_id"`
	DisplayName  string             `json:"display_name"`
	Schedule     *evidence.Schedule `json:"schedule"` // null when it has none
	// EverySeconds is the interval that counts: never below what the connector calls safe.
	EverySeconds int64 `json:"every_seconds"`
	cadence.Decision
	Words string `json:"explanation"`
}

func newScheduleRow(e *evidence.Evidence, now time.Time) scheduleRow {
	d := cadence.Decide(e, now)
	return scheduleRow{
		ConnectionID: e.Connection.ID, ConnectorID: e.Connection.ConnectorID, DisplayName: e.Connection.DisplayName,
		Schedule: e.Schedule, EverySeconds: int64(cadence.Every(e) / time.Second), Decision: d, Words: dueWords(e, d),
	}
}

func (a *app) scheduleListCommand(use, short string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: noArgs,
		RunE: a.hereOrElsewhere(func(ctx context.Context, st store.Store, _ []string) error {
			now := a.env.Now()
			all, err := scheduleFacts(ctx, st)
			if err != nil {
				return err
			}
			rows := make([]scheduleRow, len(all))
			for i := range all {
				rows[i] = newScheduleRow(&all[i], now)
			}
			a.printSchedules(rows)
			return nil
		}, a.listElsewhere),
	}
}

func (a *app) printSchedules(rows []scheduleRow) {
	if a.json {
		writeJSON(a.out, map[string]any{"schedules": rows})
		return
	}
	if len(rows) == 0 {
		printf(a.out, "No connections. Make one: pdpp run CONNECTOR\n")
		return
	}
	t := a.table("CONNECTION", "EVERY", "NEXT ATTEMPT", "WHY")
	for _, r := range rows {
		every := "-"
		if r.EverySeconds > 0 {
			every = rhythm(time.Duration(r.EverySeconds) * time.Second)
		}
		t.row(r.ConnectionID, every, nextWords(r.Decision), r.Words)
	}
	t.flush()
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
			return a.tellPlan(ctx, o, d.ID)
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
			return a.tellPlan(ctx, o, d.ID)
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
