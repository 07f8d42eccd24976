package owner

import (
	"testing"

	"pdpp/internal/cadence"
	"pdpp/internal/evidence"
	"pdpp/internal/ownerapi"
	"pdpp/internal/store"
)

func TestScheduleFollowsThePolicy(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	garden := b.connect("trowel").ID
	manual, err := b.Connect(b.ctx(), ownerapi.Connect{ConnectorID: "letters"})
	b.must(err)
	b.must(b.Store.CreateConnection(b.ctx(), store.Connection{ID: "cin_attic_1", ConnectorID: "attic", DisplayName: "Attic",
		Status: store.ConnectionActive, SourceKind: store.SourceLocalDevice, CreatedAt: b.at, UpdatedAt: b.at}))
	for _, c := range []struct {
		name, id, param string
		given           ownerapi.Schedule
	}{
		{"below the minimum", garden, "interval_seconds", ownerapi.Schedule{IntervalSeconds: 3599, Enabled: true}},
		{"nothing", garden, "interval_seconds", ownerapi.Schedule{Enabled: true}},
		{"more than a year", garden, "interval_seconds", ownerapi.Schedule{IntervalSeconds: longestInterval + 1}},
		{"wide jitter", garden, "jitter_seconds", ownerapi.Schedule{IntervalSeconds: 3600, JitterSeconds: 3601}},
		{"manual connector", manual.ID, "enabled", ownerapi.Schedule{IntervalSeconds: 3600, Enabled: true}},
		{"device", "cin_attic_1", "enabled", ownerapi.Schedule{IntervalSeconds: 3600, Enabled: true}},
	} {
		t.Run(c.name, func(t *testing.T) { wantError(t, b.SetSchedule(b.ctx(), c.id, c.given), ownerapi.CodeInvalid, c.param) })
	}
	b.must(b.SetSchedule(b.ctx(), manual.ID, ownerapi.Schedule{IntervalSeconds: 3600})) // one that is off starts nothing
	b.must(b.SetSchedule(b.ctx(), garden, ownerapi.Schedule{IntervalSeconds: 60}))      // pausing one that the connector would not allow any more
	b.must(b.SetSchedule(b.ctx(), garden, ownerapi.Schedule{IntervalSeconds: 3600, JitterSeconds: 60}))
	d, err := b.Connection(b.ctx(), garden)
	b.must(err)
	if d.Plan.Enabled || d.Plan.Waiting != "You paused it." || d.Plan.NextAt != nil || d.Plan.JitterSeconds != 60 {
		t.Errorf("plan %+v", d.Plan)
	}
	b.must(b.DeleteSchedule(b.ctx(), garden))
	b.must(b.DeleteSchedule(b.ctx(), garden))
	if d, err = b.Connection(b.ctx(), garden); err != nil || d.Plan != nil {
		t.Errorf("plan %+v, %v", d.Plan, err)
	}
	wantError(t, b.SetSchedule(b.ctx(), "cin_none", ownerapi.Schedule{IntervalSeconds: 3600}), ownerapi.CodeNotFound, "")
}

// Every reason for not being due is a sentence, except that the turn has not come.
func TestWaitingWords(t *testing.T) {
	t.Parallel()
	silent := []cadence.Reason{cadence.Due, cadence.NotYet, cadence.NoSchedule}
	for _, why := range cadence.Reasons {
		words := waitingWords(&evidence.Evidence{Backoff: &evidence.Backoff{Failures: 3}}, why)
		quiet := false
		for _, s := range silent {
			quiet = quiet || s == why
		}
		if quiet != (words == "") {
			t.Errorf("%s says %q", why, words)
		}
	}
}
