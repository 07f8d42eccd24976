package scheduler

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/judge/cadence"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// Over hours every connection runs at its own interval, and nothing runs without a schedule. internal/judge/cadence
// simulates days of policy.
func TestHoursOfSchedules(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOrchard(t)
		o.calm = true
		intervals := map[string]time.Duration{"cin_pear": 20 * time.Minute, "cin_plum": time.Hour,
			"cin_quince": 40 * time.Minute}
		for id, every := range intervals {
			o.plant(id, "orchard", every)
		}
		o.plant("cin_fig", "orchard", 0)
		o.plays("orchard", takes(time.Minute))
		w := o.worker("w1", nil)
		const hours = 2 * time.Hour
		time.Sleep(hours - time.Second)
		for id, every := range intervals {
			runs := o.ran(id)
			if want := int(hours / every); len(runs) != want {
				t.Errorf("%s ran %d times, want %d", id, len(runs), want)
			}
			for i, r := range runs {
				if late := r.at.Sub(runs[0].at) - time.Duration(i)*every; late < 0 || late > time.Duration(i)*20*time.Second ||
					r.trigger != store.TriggerScheduled {
					t.Errorf("%s: run %d began %v late: %+v", id, i, late, r)
				}
			}
		}
		if runs := o.ran("cin_fig"); len(runs) != 0 {
			t.Errorf("without a schedule: %v", runs)
		}
		o.close(w)
	})
}

// Failures wait longer and longer, and a success clears the wait.
func TestFailuresWaitAndASuccessClears(t *testing.T) {
	t.Attr("spec", "CH-04.1")
	synctest.Test(t, func(t *testing.T) {
		o := newOrchard(t)
		o.calm = true
		o.plant("cin_pear", "orchard", time.Hour)
		o.plays("orchard", fails("gate_stuck", false))
		w := o.worker("w1", nil)
		time.Sleep(150 * time.Minute)
		if runs := o.ran("cin_pear"); len(runs) != 3 {
			t.Fatalf("%d runs before the third hour", len(runs))
		}
		e := o.evidence("cin_pear")
		if d := cadence.Decide(&e, time.Now()); d.Why != cadence.InBackoff {
			t.Errorf("after three failures: %+v, %+v", d, e.Backoff)
		}
		o.plays("orchard", nil)
		time.Sleep(time.Hour)
		if e := o.evidence("cin_pear"); e.Backoff != nil || e.LastRun.Status != evidence.RunSucceeded {
			t.Errorf("after a success: %+v, %+v", e.Backoff, e.LastRun)
		}
		o.close(w)
	})
}

// A run that fails between scheduler and connector is retried at most twice within its turn. Failures that a
// connector reports, and our own stops, wait for the next scheduled time: a transient failure need not pass within a
// second.
func TestRetriesWithinTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOrchard(t)
		again := []runner.Reason{runner.ReasonExitWithoutDone, runner.ReasonStdinClosed, runner.ReasonSpawnFailed}
		once := []runner.Reason{runner.ReasonTimedOut, runner.ReasonViolation, runner.ReasonStorage,
			runner.ReasonRuntimeError}
		for _, reason := range append(once, again...) {
			o.plant("cin_"+string(reason), string(reason), time.Hour)
			o.plays(string(reason), breaks(reason))
		}
		reported := []string{"rate_limited", "network_error", "auth_failure", "retry_budget_exhausted", "circuit_open",
			"max_requests", "max_wall_clock", "run_cap_deferred"}
		for _, code := range reported {
			o.plant("cin_"+code, code, time.Hour)
			o.plays(code, fails(code, true))
		}
		w := o.worker("w1", func(c *Config) { c.Slots = 20 })
		time.Sleep(time.Minute)
		for _, reason := range again {
			runs := o.ran("cin_" + string(reason))
			if len(runs) != 3 || runs[0].trigger != store.TriggerScheduled || runs[1].trigger != store.TriggerRetry ||
				runs[1].at.Sub(runs[0].at) != time.Second || runs[2].at.Sub(runs[1].at) != 2*time.Second {
				t.Errorf("%s: %+v", reason, runs)
			}
			if b := o.evidence("cin_" + string(reason)).Backoff; b == nil || b.Failures != 1 {
				t.Errorf("%s: three attempts of one turn count as %+v", reason, b)
			}
		}
		for _, reason := range once {
			if runs := o.ran("cin_" + string(reason)); len(runs) != 1 {
				t.Errorf("%s: %d runs in a minute", reason, len(runs))
			}
		}
		for _, code := range reported {
			if runs := o.ran("cin_" + code); len(runs) != 1 {
				t.Errorf("reported as retryable, %s: %d runs in a minute", code, len(runs))
			}
		}
		o.close(w)
	})
}

// Only the source's own refusals make it rest. A cap that the owner set leaves a
// gap too, and the next run comes in its turn; while the source rests, what else is
// missing is retried, and nothing new is asked for.
func TestOnlyPressureMakesASourceRest(t *testing.T) {
	t.Attr("spec", "RT-17.1")
	t.Attr("spec", "RT-23.1")
	t.Attr("spec", "RT-24.1")
	synctest.Test(t, func(t *testing.T) {
		o := newOrchard(t)
		o.missing = map[string][]protocol.Reason{
			"capped": {protocol.ReasonRunCapDeferred}, "spent": {protocol.ReasonRetryBudget, protocol.ReasonMaxWallClock,
				protocol.ReasonMaxRequests, protocol.ReasonCircuitOpen},
			"pressed": {protocol.ReasonRateLimited}, "both": {protocol.ReasonRateLimited, protocol.ReasonRetryExhausted},
		}
		const every, long = 10 * time.Minute, 4 * time.Minute
		for connector := range o.missing {
			o.plant("cin_"+connector, connector, every)
			o.plays(connector, takes(long))
		}
		w := o.worker("w1", nil)
		time.Sleep(every + 2*time.Minute)
		for connector, recovers := range map[string]bool{"capped": false, "spent": false, "both": true} {
			e := o.evidence("cin_" + connector)
			run, err := o.st.ListRuns(t.Context(), store.RunQuery{ConnectionID: "cin_" + connector, Limit: 1})
			o.must(err)
			if e.Active == nil || run[0].RecoveryOnly != recovers {
				t.Errorf("%s: active %+v, run %+v", connector, e.Active, run[0])
			}
		}
		if e := o.evidence("cin_pressed"); e.Active != nil {
			t.Errorf("a source under pressure is asked in its turn")
		}
		time.Sleep(long)
		if e := o.evidence("cin_pressed"); e.Active == nil {
			t.Errorf("a rested source is not asked: %+v", e.LastRun)
		}
		for connector, spares := range map[string]bool{"capped": false, "spent": false, "both": true} {
			for i, r := range o.ran("cin_" + connector) {
				if want := spares && i == 1; r.recovery != want || r.spare != want {
					t.Errorf("%s: run %d is for recovery %v and spares the source %v, want %v", connector, i, r.recovery, r.spare,
						want)
				}
			}
		}
		o.close(w)
	})
}
