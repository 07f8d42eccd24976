package cli

import (
	"context"
	"time"

	"pdpp/internal/ownerapi"
	"pdpp/internal/store"
)

// planRow is a connection's schedule at a server elsewhere.
type planRow struct {
	ConnectionID string         `json:"connection_id"`
	ConnectorID  string         `json:"connector_id"`
	DisplayName  string         `json:"display_name"`
	Schedule     *ownerapi.Plan `json:"schedule"` // null when it has none
}

func planOf(ctx context.Context, o ownerapi.Owner, id string) (planRow, error) {
	d, err := o.Connection(ctx, id)
	return planRow{d.ID, d.ConnectorID, d.DisplayName, d.Plan}, err
}

// words are when it is due and why not before.
func (r planRow) words() (every, next, why string) {
	if r.Schedule == nil {
		return "-", "-", "it has no schedule; set one: pdpp schedule set " + r.ConnectionID + " --every 6h"
	}
	why = r.Schedule.Waiting
	if why == "" {
		why = "its turn has not come"
	}
	return rhythm(time.Duration(r.Schedule.IntervalSeconds) * time.Second), whenever(r.Schedule.NextAt), why
}

func (a *app) listElsewhere(ctx context.Context, o ownerapi.Owner, _ []string) error {
	all, err := connectionsOf(ctx, o)
	if err != nil {
		return err
	}
	rows := make([]planRow, len(all))
	for i, c := range all {
		if rows[i], err = planOf(ctx, o, c.ID); err != nil {
			return err
		}
	}
	if a.json {
		writeJSON(a.out, map[string]any{"schedules": rows})
		return nil
	}
	if len(rows) == 0 {
		printf(a.out, "No connections. Make one: pdpp connect CONNECTOR\n")
		return nil
	}
	t := a.table("CONNECTION", "EVERY", "NEXT ATTEMPT", "WHY")
	for _, r := range rows {
		every, next, why := r.words()
		t.row(r.ConnectionID, every, next, why)
	}
	t.flush()
	return nil
}

// setElsewhere sets a rhythm; what was not said stays as it is.
func (a *app) setElsewhere(ctx context.Context, o ownerapi.Owner, name string, f rhythmFlags) error {
	if f.every == 0 {
		return usage("--every is missing", "Write a span, like --every 6h.")
	}
	conn, plan, err := plannedAt(ctx, o, name)
	if err != nil {
		return err
	}
	s := ownerapi.Schedule{Enabled: true}
	if plan != nil {
		s = plan.Schedule
	}
	s.IntervalSeconds = int64(f.every / time.Second)
	if f.jitter != nil {
		s.JitterSeconds = int64(*f.jitter / time.Second)
	}
	s.JitterSeconds = min(s.JitterSeconds, s.IntervalSeconds)
	if err := o.SetSchedule(ctx, conn.ID, s); err != nil {
		return err
	}
	return a.tellPlan(ctx, o, conn.ID)
}

func (a *app) switchElsewhere(ctx context.Context, o ownerapi.Owner, name string, on bool) error {
	conn, plan, err := plannedAt(ctx, o, name)
	if err != nil {
		return err
	}
	if plan == nil {
		return noSchedule(conn.ID)
	}
	s := plan.Schedule
	s.Enabled = on
	if err := o.SetSchedule(ctx, conn.ID, s); err != nil {
		return err
	}
	return a.tellPlan(ctx, o, conn.ID)
}

func (a *app) removeElsewhere(ctx context.Context, o ownerapi.Owner, args []string) error {
	conn, plan, err := plannedAt(ctx, o, args[0])
	if err != nil {
		return err
	}
	if plan == nil {
		return noSchedule(conn.ID)
	}
	if err := o.DeleteSchedule(ctx, conn.ID); err != nil {
		return err
	}
	return a.tellPlan(ctx, o, conn.ID)
}

func plannedAt(ctx context.Context, o ownerapi.Owner, name string) (store.Connection, *ownerapi.Plan, error) {
	conn, err := pickOwned(ctx, o, name, byName)
	if err != nil {
		return conn, nil, err
	}
	row, err := planOf(ctx, o, conn.ID)
	return conn, row.Schedule, err
}

// tellPlan says what holds after a change.
func (a *app) tellPlan(ctx context.Context, o ownerapi.Owner, id string) error {
	row, err := planOf(ctx, o, id)
	if err != nil {
		return err
	}
	if a.json {
		writeJSON(a.out, row)
		return nil
	}
	every, next, why := row.words()
	if row.Schedule != nil {
		every = "every " + every + "; "
	} else {
		every = ""
	}
	printf(a.out, "%s: %snext attempt %s (%s)\n", id, every, next, oneLine(why))
	return nil
}
