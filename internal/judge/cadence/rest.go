package cadence

import (
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

// classPressure is the class under which earlier versions stored the source's rest. It
// follows from the gaps now, and such a record decides nothing.
const classPressure = "source_pressure"

// DelayingWait is the wait for the provider that delays the connection's next run;
// nil when none does. While a run is under way nothing is delayed. Where no schedule
// starts runs, a wait delays the one that the owner may ask for.
func DelayingWait(e *evidence.Evidence, now time.Time) *evidence.Wait {
	s := read(e.AsOf(now), now)
	if s.Active != nil || s.wait == nil || !s.wait.After(s.turn) {
		return nil
	}
	return e.WaitInForce(now)
}

// Rest is a cool-down of the source: since when and until when.
type Rest struct{ Since, Until time.Time }

// SourceRest returns the cool-down that holds back the connection's next scheduled run; nil when none
// does. It follows from the gaps that the source's refusals left, however the run ended and whenever the
// schedule was set. Without a schedule that starts runs nothing is held back.
func SourceRest(e *evidence.Evidence, now time.Time) *Rest {
	s := read(e.AsOf(now), now)
	starts := s.Connection.Status == evidence.StatusActive && scheduled(s.Evidence) && s.Schedule.Enabled &&
		!s.Refresh.ManualOnly()
	if s.Active != nil || !starts || s.cooldown == nil {
		return nil
	}
	return &Rest{Since: pressedAt(s.Evidence), Until: *s.cooldown}
}
