package health

import (
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/cadence"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

// reading is the evidence together with values that several rules need.
type reading struct {
	*evidence.Evidence
	now        time.Time
	seen       *time.Time // now, for conditions without a time of their own
	manualOnly bool
	outbox     OutboxReading
	surface    Surface
	surfaceAt  *evidence.Probe
	freshness  Freshness
	capturedAt *time.Time
	coverage   coverageReading
	// question is the most urgent open question.
	question *evidence.Attention
	// closed is the newest question that no longer waits.
	closed    *evidence.Attention
	attention AttentionAxis
	timing    cadence.Timing
}

func newReading(e *evidence.Evidence, now time.Time) reading {
	r := reading{Evidence: e, now: now, seen: &now, manualOnly: e.Refresh.ManualOnly()}
	r.outbox = ReadOutbox(e.Device, now)
	r.freshness, r.capturedAt = freshness(e, r.outbox, now)
	r.coverage = readCoverage(e)
	r.timing = cadence.ReadTiming(e, now)
	r.readAttention()
	r.readSurface()
	return r
}

// readAttention selects the question to answer first: the one that expires first, then the oldest.
func (r *reading) readAttention() {
	r.attention = AttentionNone
	for i := range r.Attention {
		a := &r.Attention[i]
		if !a.Lifecycle.Waiting() || expired(a.ExpiresAt, r.now) {
			if r.closed == nil || a.OpenedAt.After(r.closed.OpenedAt) {
				r.closed = a
			}
			continue
		}
		if r.question == nil || moreUrgent(a, r.question) {
			r.question, r.attention = a, AttentionAxis(a.Lifecycle)
		}
	}
}

func moreUrgent(a, b *evidence.Attention) bool {
	switch {
	case a.ExpiresAt == nil && b.ExpiresAt == nil:
		return a.OpenedAt.Before(b.OpenedAt)
	case a.ExpiresAt == nil || b.ExpiresAt == nil:
		return b.ExpiresAt == nil
	case !a.ExpiresAt.Equal(*b.ExpiresAt):
		return a.ExpiresAt.Before(*b.ExpiresAt)
	default:
		return a.OpenedAt.Before(b.OpenedAt)
	}
}

// readSurface selects the newest unexpired probe of a remote browser.
func (r *reading) readSurface() {
	r.surface = SurfaceNone
	for i := range r.Probes {
		p := &r.Probes[i]
		if p.Dimension != evidence.ProbeRemoteSurface || expired(p.ExpiresAt, r.now) {
			continue
		}
		if r.surfaceAt == nil || p.At.After(r.surfaceAt.At) {
			r.surfaceAt = p
		}
	}
	if r.surfaceAt == nil {
		return
	}
	switch r.surfaceAt.Status {
	case evidence.ProbeFailed:
		r.surface = SurfaceFailed
	case evidence.ProbeIdle, evidence.ProbeOK:
		r.surface = SurfaceIdle
	case evidence.ProbeLeased:
		r.surface = SurfaceLeased
	case evidence.ProbeWaiting:
		r.surface = SurfaceWaiting
	default:
		r.surface = SurfaceUnknown
	}
}

// failedRun returns the newest run if it did not succeed.
func (r *reading) failedRun() *evidence.Run {
	if r.LastRun == nil || r.LastRun.Status == evidence.RunSucceeded {
		return nil
	}
	return r.LastRun
}

// deviceVerdict reports whether the devices' evidence counts as a successful collection. Their outbox is empty, they
// report complete and fresh data, and there is no run.
func (r *reading) deviceVerdict() bool {
	return r.LastRun == nil && r.LocalDevice() && r.outbox.Axis == OutboxIdle &&
		r.coverage.axis == Complete && r.coverage.diagnosed && r.freshness == Fresh
}

// paused reports whether the owner stopped collection. A disabled schedule that has no effect does not count.
func (r *reading) paused() bool {
	return r.Connection.Status == evidence.StatusPaused || r.scheduleCounts() && !r.Schedule.Enabled
}

// scheduleCounts reports whether the connection has a schedule with an effect. Sources where only the owner starts
// runs have none.
func (r *reading) scheduleCounts() bool { return r.Schedule != nil && !r.manualOnly }

// unreadable returns the families that could not be read or trusted.
func (r *reading) unreadable() []string {
	names := []string{}
	for _, f := range r.Unreadable {
		names = append(names, string(f))
	}
	if r.outbox.Unreliable && r.LastRun == nil && !slices.Contains(r.Unreadable, evidence.FamilyDevice) {
		names = append(names, string(evidence.FamilyDevice))
	}
	return names
}
