package cli

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"pdpp/internal/evidence"
	"pdpp/internal/ownerapi"
	"pdpp/internal/store"
)

const scheduleSetText = `Set how often a connection collects by itself. Setting it again replaces it; a
schedule that you paused stays paused.

With --jitter every run starts up to so much later, by a different time for each
connection, so that many of them do not start together. Without it the jitter
stays as it was; --jitter 0 removes it.`

// Bounds of what may be set: a timer asks at most once a minute, and what is
// slower than a year is no rhythm.
const (
	shortestEvery = time.Minute
	longestEvery  = 366 * 24 * time.Hour
)

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
		RunE: a.hereOrElsewhere(func(ctx context.Context, st store.Store, args []string) error {
			return a.setSchedule(ctx, st, args[0], f)
		}, func(ctx context.Context, o ownerapi.Owner, args []string) error {
			return a.setElsewhere(ctx, o, args[0], f)
		}),
	}
	cmd.Flags().DurationVar(&f.every, "every", 0, "time between the starts of two runs, like 30m or 6h")
	cmd.Flags().DurationVar(&jitter, "jitter", 0, "start up to so much later, like 10m")
	return cmd
}

func (a *app) setSchedule(ctx context.Context, st store.Store, name string, f rhythmFlags) error {
	conn, err := pickConnection(ctx, st, name, byName)
	if err != nil {
		return err
	}
	now := a.env.Now()
	e, err := scheduleFactsOf(ctx, st, conn.ID)
	if err != nil {
		return err
	}
	if err := mayBeScheduled(&e); err != nil {
		return err
	}
	if err := checkRhythm(f, &e); err != nil {
		return err
	}
	s, err := st.Schedule(ctx, conn.ID)
	if errors.Is(err, store.ErrNotFound) {
		s, err = store.Schedule{ConnectionID: conn.ID, Enabled: true, CreatedAt: now}, nil
	}
	if err != nil {
		return err
	}
	s.IntervalSeconds, s.UpdatedAt = int64(f.every/time.Second), now
	if f.jitter != nil {
		s.JitterSeconds = int64(*f.jitter / time.Second)
	}
	s.JitterSeconds = min(s.JitterSeconds, s.IntervalSeconds)
	if err := st.PutSchedule(ctx, s); err != nil {
		return err
	}
	return a.tellSchedule(ctx, st, conn.ID)
}

// mayBeScheduled refuses connections that no schedule could start.
func mayBeScheduled(e *evidence.Evidence) error {
	id := e.Connection.ID
	switch {
	case e.Connection.Status == evidence.StatusRevoked:
		return revoked(id)
	case slices.Contains(e.Unreadable, evidence.FamilyManifest):
		return &Error{Code: "manifest_unreadable", Exit: ExitFailed, Message: "what the connector of " + id + " declares could not be read",
			Next: "Record it anew by a run: pdpp run " + id}
	case e.Refresh.ManualOnly():
		return &Error{Code: "schedule_ineligible", Exit: ExitFailed,
			Message: "the connector of " + id + " has to be started by you: " + safe(e.Refresh.Rationale), Next: "Collect when you like: pdpp run " + id}
	default:
		return nil
	}
}

func checkRhythm(f rhythmFlags, e *evidence.Evidence) error {
	var least, wish time.Duration
	if e.Refresh != nil {
		least = time.Duration(e.Refresh.MinimumIntervalSeconds) * time.Second
		wish = time.Duration(e.Refresh.RecommendedIntervalSeconds) * time.Second
	}
	advice := "Write a span, like --every 6h."
	if wish > 0 {
		advice = "The connector recommends --every " + rhythm(wish) + "."
	}
	switch {
	case f.every == 0:
		return usage("--every is missing", advice)
	case f.every < shortestEvery || f.every > longestEvery || f.every%time.Second != 0:
		return usage("--every "+f.every.String()+" is not a rhythm", "Use whole seconds, from 1m to a year. "+advice)
	case f.every < least:
		return &Error{Code: "interval_below_minimum", Exit: ExitUsage,
			Message: "the connector calls nothing below " + rhythm(least) + " safe for the source", Next: "Use --every " + rhythm(max(least, wish)) + " or more."}
	case f.jitter != nil && (*f.jitter < 0 || *f.jitter > f.every || *f.jitter%time.Second != 0):
		return usage("--jitter "+f.jitter.String()+" does not fit", "Use whole seconds, from 0 to the "+rhythm(f.every)+" of --every.")
	default:
		return nil
	}
}
