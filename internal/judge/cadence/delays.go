package cadence

import (
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

// classPressure is the backoff class under which earlier versions stored a cool-down. Such a record is ignored,
// because cool-downs now follow from gaps.
const classPressure = "source_pressure"

// Timing is the scheduler's decision about a connection, with the delays that the owner is shown.
type Timing struct {
	Decision
	// Wait is the provider wait that delays the connection's next run, or nil. Nothing is delayed while a run is in
	// progress. Without a schedule, a wait delays the run that the owner may request.
	Wait *evidence.SenderWait
	// Cooldown delays the connection's next scheduled run, or is nil. It follows from the gaps that the source's
	// refusals left, whatever the run's result and the schedule's age. Without an active schedule nothing is delayed.
	Cooldown *Cooldown
}

// ReadTiming returns the timing of a connection. It does not modify the evidence.
func ReadTiming(e *evidence.Evidence, now time.Time) Timing {
	s := readSituation(e.AsOf(now), now)
	return Timing{Decision: s.decision(), Wait: s.delayingWait(), Cooldown: s.sourceCooldown()}
}

// Cooldown is a period in which a source is not asked for new data.
type Cooldown struct{ Since, Until time.Time }

func (s *situation) delayingWait() *evidence.SenderWait {
	if s.Active != nil || s.wait == nil || !s.wait.After(s.turn) {
		return nil
	}
	return s.ActiveWait(s.now)
}

func (s *situation) sourceCooldown() *Cooldown {
	starts := s.Connection.Status == evidence.StatusActive && hasSchedule(s.Evidence) && s.Schedule.Enabled &&
		!s.Refresh.ManualOnly()
	if s.Active != nil || !starts || s.cooldown == nil {
		return nil
	}
	return &Cooldown{Since: pressureStart(s.Evidence), Until: *s.cooldown}
}
