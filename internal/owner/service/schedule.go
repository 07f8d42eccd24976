package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/pdpp-go/pdpp/internal/judge/cadence"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/manifest"
)

const (
	// longestInterval is about a year: what is slower is no rhythm.
	longestInterval = 366 * 24 * 3600
	// usualInterval is for a connector that is to be collected from by itself, and
	// does not say how often.
	usualInterval = 24 * 3600
)

// SetSchedule makes the connection collect by itself, or changes its rhythm.
func (s *Service) SetSchedule(ctx context.Context, id string, given api.Schedule) error {
	if _, err := s.find.Active(ctx, id); err != nil {
		return err
	}
	e, err := s.evidenceOf(ctx, id)
	if err != nil {
		return err
	}
	if e.LocalDevice() {
		return api.Invalid("enabled", "A device of yours collects this by itself.", "Set its rhythm on that device.")
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
		return faults.Error(err, "read the schedule")
	}
	kept.IntervalSeconds, kept.JitterSeconds, kept.Enabled, kept.UpdatedAt = given.IntervalSeconds, given.JitterSeconds, given.Enabled, now
	return faults.Error(s.Store.PutSchedule(ctx, kept), "keep the schedule")
}

// DeleteSchedule ends collecting by itself. Where there is no schedule nothing changes.
func (s *Service) DeleteSchedule(ctx context.Context, id string) error {
	if _, err := s.find.Connection(ctx, id); err != nil {
		return err
	}
	err := s.Store.DeleteSchedule(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return faults.Error(err, "delete the schedule")
}

// checkSchedule holds a rhythm to what the connector allows. One that is off may stand
// for a connector that only the owner starts: it starts nothing.
func checkSchedule(p *manifest.RefreshPolicy, given api.Schedule) error {
	if given.Enabled && p.ManualOnly() {
		return api.Invalid("enabled", "The connector has to be started by you: "+text.Sentence(p.Rationale), "Collect when you like, with Run now.")
	}
	least := int64(1)
	if p != nil {
		least = max(least, int64(p.MinimumIntervalSeconds))
	}
	switch {
	case given.IntervalSeconds < 1 || given.IntervalSeconds > longestInterval:
		return api.Invalid("interval_seconds", "The time between two runs is from a second to a year.", "Choose another rhythm.")
	case given.Enabled && given.IntervalSeconds < least: // pausing is always possible
		words := text.Span(time.Duration(least) * time.Second)
		return api.Invalid("interval_seconds", "The connector calls nothing below "+words+" safe for the source.", "Choose "+words+" or more.")
	case given.JitterSeconds < 0 || given.JitterSeconds > given.IntervalSeconds:
		return api.Invalid("jitter_seconds", "A run can start later by at most the time between two runs.", "Choose a smaller spread.")
	default:
		return nil
	}
}

// firstSchedule is the rhythm of a new connection: what the owner chose, or else what
// the connector recommends; nil when it is not to collect by itself.
func firstSchedule(p *manifest.RefreshPolicy, chosen *api.Schedule) (*api.Schedule, error) {
	if chosen != nil {
		if chosen.IntervalSeconds == 0 {
			return nil, nil
		}
		return chosen, checkSchedule(p, *chosen)
	}
	return recommended(p), nil
}

// recommended is nil for a connector that is not to be collected from by itself.
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

// plan is a schedule and what comes of it; nil without one.
func plan(e *evidence.Evidence, now time.Time) *api.Plan {
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

// waitingWords says why a connection is not due, when that is not its rhythm.
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
		return "The source asked for fewer requests, and is left alone for a while."
	default:
		return ""
	}
}
