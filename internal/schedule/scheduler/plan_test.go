package scheduler

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/cadence"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
)

// Which requests are answered at once: the owner's and a repair's always, a
// scheduled run that had to stop only as far as the schedule would have it.
func TestHonoured(t *testing.T) {
	for _, why := range cadence.Reasons {
		d := cadence.Decision{Due: why == cadence.Due, Why: why}
		free := why != cadence.Running && why != cadence.ConnectionInactive
		for trigger, want := range map[store.Trigger]bool{
			store.TriggerManual: free, store.TriggerRetry: free,
			store.TriggerScheduled: why == cadence.Due || why == cadence.NotYet,
		} {
			if got := honoured(&store.RunRequest{Trigger: trigger}, d); got != want {
				t.Errorf("%s, %s: %v", trigger, why, got)
			}
		}
	}
}

// Facts that could not be read may be there in a moment, and nothing touches the
// connection when they are.
func TestUnreadableFactsAreLookedAtAgainSoon(t *testing.T) {
	now := time.Date(2031, 5, 4, 3, 2, 1, 0, time.UTC)
	e := &evidence.Evidence{Connection: evidence.Connection{ID: "cin_pear", Status: evidence.StatusActive},
		Unreadable: []evidence.Family{evidence.FamilyRuns}}
	if o, again := decide(e, nil, now); o != nil || again.Sub(now) > checkQueued || !again.After(now) {
		t.Errorf("a run: %v; checked again after %v", o != nil, again.Sub(now))
	}
}

// A request by the owner during a provider wait is checked when the wait is over, even without a schedule.
func TestRequestComesBackWhenTheWaitIsOver(t *testing.T) {
	now := time.Date(2031, 5, 4, 3, 2, 1, 0, time.UTC)
	until := now.Add(7 * time.Minute)
	e := &evidence.Evidence{
		Connection: evidence.Connection{ID: "cin_pear", Status: evidence.StatusActive},
		Waits:      []evidence.SenderWait{{Sender: "api", Until: until, At: now.Add(-time.Minute)}},
	}
	asked := []store.RunRequest{{ConnectionID: "cin_pear", Trigger: store.TriggerManual, RequestedAt: now}}
	if o, again := decide(e, asked, now); o != nil || !again.Equal(until) {
		t.Errorf("a run: %v; checked again after %v, want %v", o != nil, again.Sub(now), until.Sub(now))
	}
	if o, _ := decide(e, asked, until); o == nil {
		t.Error("the wait is over, and no run is made")
	}
}

// What a drained worker puts back waits while the owner has paused the schedule,
// and goes on when it is resumed.
func TestPutBackObeysAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOrchard(t)
		o.plant("cin_pear", "orchard", time.Hour)
		o.plays("orchard", takes(10*time.Minute))
		first := o.worker("w1", nil)
		time.Sleep(10 * time.Second)
		o.must(first.Stop(t.Context()))
		o.schedule("cin_pear", time.Hour, false)
		second := o.worker("w2", nil)
		time.Sleep(time.Minute)
		if e := o.evidence("cin_pear"); e.Active != nil {
			t.Error("it runs although it is paused")
		}
		o.schedule("cin_pear", time.Hour, true)
		time.Sleep(atOnce)
		if e := o.evidence("cin_pear"); e.Active == nil {
			t.Error("resumed, and the stopped run was forgotten")
		}
		o.close(second)
	})
}

// A recovery within a cool-down that is put back spares the source still.
func TestPutBackSparesTheSource(t *testing.T) {
	e := &evidence.Evidence{Connection: evidence.Connection{ID: "cin_pear", Status: evidence.StatusActive}}
	for _, c := range []struct {
		trigger store.Trigger
		spare   bool
	}{{store.TriggerScheduled, true}, {store.TriggerManual, false}} {
		e.Schedule = &evidence.Schedule{Enabled: true, IntervalSeconds: 60}
		o, _ := decide(e, []store.RunRequest{{Trigger: c.trigger, RecoveryOnly: true}}, time.Now())
		if o == nil || !o.recoveryOnly || o.spare != c.spare {
			t.Errorf("%s: %+v", c.trigger, o)
		}
	}
}

// Of several requests the oldest that can be answered now is, and the run carries its
// grant: one that has to wait does not hold up the others.
func TestOldestRequestThatCanBeAnswered(t *testing.T) {
	e := &evidence.Evidence{Connection: evidence.Connection{ID: "cin_pear", Status: evidence.StatusActive}}
	e.Schedule = &evidence.Schedule{Enabled: false, IntervalSeconds: 60}
	requests := []store.RunRequest{
		{Trigger: store.TriggerScheduled}, // stopped, and paused since
		{Trigger: store.TriggerManual, GrantID: "gr_1"},
		{Trigger: store.TriggerManual},
	}
	for _, want := range []string{"gr_1", ""} {
		o, _ := decide(e, requests, time.Now())
		if o == nil || o.trigger != store.TriggerManual || o.grantID != want {
			t.Fatalf("of %+v: %+v", requests, o)
		}
		requests = append(requests[:1], requests[2:]...)
	}
	if o, _ := decide(e, requests, time.Now()); o != nil {
		t.Errorf("a paused run goes on: %+v", o)
	}
}

// A connector is queued for what it needs most.
func TestNeeds(t *testing.T) {
	for required, want := range map[string]Capability{
		``:                            Network,
		`"network":{"required":true}`: Network,
		`"filesystem":{"required":true},"network":{"required":true}`:   Local,
		`"local_device":{"required":true}`:                             Local,
		`"browser":{"required":true},"filesystem":{"required":true}`:   Browser,
		`"browser":{"required":false},"filesystem":{"required":true}`:  Local,
		`"browser":{"required":false},"filesystem":{"required":false}`: Network,
	} {
		m, err := manifest.Parse(fmt.Appendf(nil, `{"protocol_version":"0.1.0","connector_id":"orchard",`+
			`"version":"1.0.0","display_name":"Orchard",
"runtime_requirements":{"bindings":{%s}},
"streams":[{"name":"trees","semantics":"mutable_state","primary_key":"id","schema":{"type":"object",`+
			`"properties":{"id":{"type":"string"}}}}]}`, required))
		if err != nil {
			t.Fatal(err)
		}
		if got := requiredCapability(m); got != want {
			t.Errorf("%s needs %s, want %s", required, got, want)
		}
	}
}
