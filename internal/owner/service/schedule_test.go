package service

import (
	"reflect"
	"testing"

	"github.com/pdpp-go/pdpp/internal/judge/cadence"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
)

func TestScheduleFollowsThePolicy(t *testing.T) {
	t.Parallel()
	b := newServiceHarness(t)
	garden := b.connect("trowel").ID
	manual, err := b.Connect(b.ctx(), api.Connect{ConnectorID: "letters"})
	b.requireNoError(err)
	b.requireNoError(b.Store.CreateConnection(b.ctx(),
		store.Connection{ID: "cin_attic_1", ConnectorID: "attic", DisplayName: "Attic",
			Status: store.ConnectionActive, SourceKind: store.SourceLocalDevice, CreatedAt: b.at, UpdatedAt: b.at}))
	for _, c := range []struct {
		name, id, param string
		given           api.Schedule
	}{
		{"below the minimum", garden, "interval_seconds", api.Schedule{IntervalSeconds: 3599, Enabled: true}},
		{"nothing", garden, "interval_seconds", api.Schedule{Enabled: true}},
		{"more than a year", garden, "interval_seconds", api.Schedule{IntervalSeconds: longestInterval + 1}},
		{"wide jitter", garden, "jitter_seconds", api.Schedule{IntervalSeconds: 3600, JitterSeconds: 3601}},
		{"manual connector", manual.ID, "enabled", api.Schedule{IntervalSeconds: 3600, Enabled: true}},
		{"device", "cin_attic_1", "enabled", api.Schedule{IntervalSeconds: 3600, Enabled: true}},
	} {
		t.Run(c.name, func(t *testing.T) { wantError(t, b.SetSchedule(b.ctx(), c.id, c.given), api.CodeInvalid, c.param) })
	}
	// one that is off starts nothing
	b.requireNoError(b.SetSchedule(b.ctx(), manual.ID, api.Schedule{IntervalSeconds: 3600}))
	// pausing one that the connector would not allow any more
	b.requireNoError(b.SetSchedule(b.ctx(), garden, api.Schedule{IntervalSeconds: 60}))
	b.requireNoError(b.SetSchedule(b.ctx(), garden, api.Schedule{IntervalSeconds: 3600, JitterSeconds: 60}))
	d, err := b.Connection(b.ctx(), garden)
	b.requireNoError(err)
	if d.Plan.Enabled || d.Plan.Waiting != "You paused it." || d.Plan.NextAt != nil || d.Plan.JitterSeconds != 60 {
		t.Errorf("plan %+v", d.Plan)
	}
	b.requireNoError(b.DeleteSchedule(b.ctx(), garden))
	b.requireNoError(b.DeleteSchedule(b.ctx(), garden))
	if d, err = b.Connection(b.ctx(), garden); err != nil || d.Plan != nil {
		t.Errorf("plan %+v, %v", d.Plan, err)
	}
	wantError(t, b.SetSchedule(b.ctx(), "cin_none", api.Schedule{IntervalSeconds: 3600}), api.CodeNotFound, "")
}

// A new connection starts with the interval that its connector recommends, or else with an allowed default interval.
// It has no schedule if the connector does not recommend automatic collection.
func TestFirstSchedule(t *testing.T) {
	t.Parallel()
	on := func(every int64) *api.Schedule { return &api.Schedule{IntervalSeconds: every, Enabled: true} }
	auto := func(every, least int) *manifest.RefreshPolicy {
		return &manifest.RefreshPolicy{RecommendedMode: manifest.RefreshAutomatic, RecommendedIntervalSeconds: every,
			MinimumIntervalSeconds: least}
	}
	for name, c := range map[string]struct {
		policy       *manifest.RefreshPolicy
		chosen, want *api.Schedule
		refused      bool
	}{
		"no policy":           {nil, nil, nil, false},
		"recommended":         {auto(7200, 0), nil, on(7200), false},
		"usual":               {auto(0, 60), nil, on(usualInterval), false},
		"usual, but slower":   {auto(0, 10*usualInterval), nil, on(10 * usualInterval), false},
		"manual":              {&manifest.RefreshPolicy{RecommendedMode: manifest.RefreshManual}, nil, nil, false},
		"chosen":              {auto(7200, 3600), on(3600), on(3600), false},
		"chosen too fast":     {auto(7200, 3600), on(3599), nil, true},
		"chosen to have none": {auto(7200, 3600), &api.Schedule{}, nil, false},
	} {
		got, err := firstSchedule(c.policy, c.chosen)
		if (err != nil) != c.refused || !c.refused && !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
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
