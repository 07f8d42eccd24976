package cli

import (
	"context"
	"time"

	"pdpp/internal/owner/api"
)

// planRow is a connection's schedule, as the owner's service tells it.
type planRow struct {
	ConnectionID string    `json:"connection_id"`
	ConnectorID  string    `json:"connector_id"`
	DisplayName  string    `json:"display_name"`
	Schedule     *api.Plan `json:"schedule"` // null when it has none
}

func planOf(ctx context.Context, o api.Owner, id string) (planRow, error) {
	d, err := o.Connection(ctx, id)
	return planRow{d.ID, d.ConnectorID, d.DisplayName, d.Plan}, err
}

// words are how often it collects, when it is due and why not before.
func (r planRow) words(now time.Time) (every, next, why string) {
	p := r.Schedule
	if p == nil {
		return "-", "-", "it has no schedule; set one: pdpp schedule set " + r.ConnectionID + " --every 6h"
	}
	every, next, why = rhythm(time.Duration(p.IntervalSeconds)*time.Second), whenever(p.NextAt), p.Waiting
	switch {
	case !p.Enabled:
		why = "you paused it; go on: pdpp schedule resume " + r.ConnectionID
	case why != "":
	case p.NextAt != nil && !p.NextAt.After(now):
		next, why = "now", "due now"
	default:
		why = "its turn has not come"
	}
	return every, next, why
}

func (a *app) listElsewhere(ctx context.Context, o api.Owner, _ []string) error {
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
		every, next, why := r.words(a.env.Now())
		t.row(r.ConnectionID, every, next, why)
	}
	t.flush()
	return nil
}

// tellPlan says what holds after a change.
func (a *app) tellPlan(ctx context.Context, o api.Owner, id string) error {
	row, err := planOf(ctx, o, id)
	if err != nil {
		return err
	}
	if a.json {
		writeJSON(a.out, row)
		return nil
	}
	every, next, why := row.words(a.env.Now())
	if row.Schedule != nil {
		every = "every " + every + "; "
	} else {
		every = ""
	}
	printf(a.out, "%s: %snext attempt %s (%s)\n", id, every, next, oneLine(why))
	return nil
}
