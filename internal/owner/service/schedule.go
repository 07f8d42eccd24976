package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/pdpp-go/pdpp/internal/judge/cadence"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
)

const (
	// longestInterval is about a year: what is slower is no rhythm.
	longestInterval = 366 * 24 * 3600
	// usualInterval is the interval of a connector that collects automatically but recommends no interval.
	usualInterval = 24 * 3600
)

// SetSchedule makes the connection collect automatically, or changes its interval.
func (s *Service) SetSchedule(ctx context.Context, id string, given api.Schedule) error {
	if _, err := s.find.ActiveConnection(ctx, id); err != nil {
		return err
	}
	e, err := s.evidenceOf(ctx, id)
	if err != nil {
		return err
	}
	if e.LocalDevice() {
		return api.Invalid("enabled", "One of your devices collects this.", "Set the schedule on that device.")
	}
	if err := checkSchedule(e.Refresh, given); err != nil {
		return err
	}
	return s.putSchedule(ctx, id, given)
}

func (s *Service) putSchedule(ctx context.Context, id string, given api.Schedule) error {
	now := s.Now()
	kept, err := s.Store.Schedule(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		kept, err = store.Schedule{ConnectionID: id, CreatedAt: now}, nil
	}
	if err != nil {
		return faults.OwnerError(err, "read the schedule")
	}
	kept.IntervalSeconds, kept.JitterSeconds, kept.Enabled, kept.UpdatedAt = given.IntervalSeconds, given.JitterSeconds,
		given.Enabled, now
	return faults.OwnerError(s.Store.PutSchedule(ctx, kept), "keep the schedule")
}

// DeleteSchedule stops automatic collection. It does nothing if the connection has no schedule.
func (s *Service) DeleteSchedule(ctx context.Context, id string) error {
	if _, err := s.find.Connection(ctx, id); err != nil {
		return err
	}
	err := s.Store.DeleteSchedule(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return faults.OwnerError(err, "delete the schedule")
}

// checkSchedule rejects a schedule that the connector does not allow. A connector that only the owner starts may have
// a disabled schedule, because that starts nothing.
func checkSchedule(p *manifest.RefreshPolicy, given api.Schedule) error {
	if given.Enabled && p.ManualOnly() {
		return api.Invalid("enabled", "The connector has to be started by you: "+text.Sentence(p.Rationale),
			"Collect when you like, with Run now.")
	}
	least := int64(1)
	if p != nil {
		least = max(least, int64(p.MinimumIntervalSeconds))
	}
	switch {
	case given.IntervalSeconds < 1 || given.IntervalSeconds > longestInterval:
		return api.Invalid("interval_seconds", "The time between two runs is from a second to a year.",
			"Choose another rhythm.")
	case given.Enabled && given.IntervalSeconds < least: // pausing is always possible
		words := text.DurationWords(time.Duration(least) * time.Second)
		return api.Invalid("interval_seconds", "The connector calls nothing below "+words+" safe for the source.",
			"Choose "+words+" or more.")
	case given.JitterSeconds < 0 || given.JitterSeconds > given.IntervalSeconds:
		return api.Invalid("jitter_seconds", "A run can start later by at most the time between two runs.",
			"Choose a smaller spread.")
	default:
		return nil
	}
}

// firstSchedule returns the schedule of a new connection: the owner's choice, or else the connector's recommendation.
// It returns nil if the connection does not collect automatically.
func firstSchedule(p *manifest.RefreshPolicy, chosen *api.Schedule) (*api.Schedule, error) {
	if chosen != nil {
		if chosen.IntervalSeconds == 0 {
			return nil, nil
		}
		return chosen, checkSchedule(p, *chosen)
	}
	return recommended(p), nil
}

// recommended returns the schedule that the connector recommends; nil if it recommends no automatic collection.
func recommended(p *manifest.RefreshPolicy) *api.Schedule {
	if p == nil || p.ManualOnly() || p.RecommendedMode != manifest.RefreshAutomatic {
		return nil
	}
	every := int64(p.RecommendedIntervalSeconds)
	if every == 0 {
		every = max(usualInterval, int64(p.MinimumIntervalSeconds))
	}
	return &api.Schedule{IntervalSeconds: every, Enabled: true}
}

// schedulePlan is a schedule and what comes of it; nil without one.
func schedulePlan(e *evidence.Evidence, now time.Time) *api.Plan {
	if e.Schedule == nil {
		return nil
	}
	p := &api.Plan{Schedule: api.Schedule{
		IntervalSeconds: e.Schedule.IntervalSeconds, JitterSeconds: e.Schedule.JitterSeconds, Enabled: e.Schedule.Enabled,
	}}
	d := cadence.Decide(e, now)
	p.Waiting = waitingWords(e, d.Why)
	switch {
	case d.Due:
		p.NextAt = &now
	case d.At != nil:
		p.NextAt = d.At
	}
	return p
}

// waitingWords explains why a connection is not due. It returns an empty text if the schedule is the only reason.
func waitingWords(e *evidence.Evidence, why cadence.Reason) string {
	failures := 0
	if e.Backoff != nil {
		failures = e.Backoff.Failures
	}
	switch why {
	case cadence.Running:
		return "A run is under way."
	case cadence.ConnectionInactive:
		return "The connection is not in use."
	case cadence.Unreadable:
		return "Some of its facts could not be read."
	case cadence.OwnerPaused:
		return "You paused it."
	case cadence.PolicyIneligible:
		return "Its connector has to be started by you."
	case cadence.AttentionOpen:
		return "A question waits for you."
	case cadence.CredentialRejected:
		return "The source refused the credential."
	case cadence.GaveUp:
		return fmt.Sprintf("The same failure came %s in a row.", text.Count(int64(failures), "time", "times"))
	case cadence.InBackoff:
		return fmt.Sprintf("It waits after %s in a row.", text.Count(int64(failures), "failure", "failures"))
	case cadence.ProviderWait:
		return "The source is not to be asked yet."
	case cadence.SourcePressure:
		return "The source asked for fewer requests, so PDPP pauses for a while."
	default:
		return ""
	}
}
