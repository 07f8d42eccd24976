package scheduler

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/judge/cadence"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// During a provider wait nothing starts: no scheduled run, retry, repair or request. A request is kept and runs once
// after the wait. Only the owner's explicit second request starts it before.
func TestNothingStartsDuringAWait(t *testing.T) {
	t.Attr("spec", "CH-04.2")
	synctest.Test(t, func(t *testing.T) {
		o := newOrchard(t)
		o.announces = map[string]time.Duration{"orchard": 2 * time.Hour, "broken": 2 * time.Hour}
		for _, id := range []string{"cin_scheduled", "cin_asked", "cin_fixed", "cin_hurried"} {
			o.plant(id, "orchard", 10*time.Minute)
		}
		o.plant("cin_manual", "orchard", 0)
		o.plant("cin_broken", "broken", 10*time.Minute)
		o.plays("broken", breaks(runner.ReasonExitWithoutDone))
		w := o.worker("w1", func(c *Config) { c.PerProvider = 8 })
		o.must(o.ask("cin_manual"))
		began := time.Now()
		time.Sleep(30 * time.Minute)
		for _, id := range []string{"cin_scheduled", "cin_asked", "cin_fixed", "cin_hurried", "cin_manual", "cin_broken"} {
			if runs := o.ran(id); len(runs) != 1 {
				t.Fatalf("%s: %d runs within half an hour of two hours", id, len(runs))
			}
		}
		var waits *store.WaitError
		for _, id := range []string{"cin_asked", "cin_manual", "cin_hurried"} {
			if err := o.ask(id); !errors.As(err, &waits) || waits.Until.Sub(began) > 2*time.Hour+atOnce ||
				waits.Reason != protocol.WaitRetryAfter {
				t.Fatalf("%s: asked for, %v", id, err)
			}
		}
		_, err := o.st.RequestRun(t.Context(), store.RunRequest{ConnectionID: "cin_fixed", Trigger: store.TriggerRetry,
			RequestedAt: time.Now()})
		o.must(err)
		o.announces = nil
		o.must(RunNow(t.Context(), o.st, store.RunRequest{ConnectionID: "cin_hurried", Trigger: store.TriggerManual,
			AskAnyway: true, RequestedAt: time.Now()}))
		time.Sleep(time.Minute)
		if runs := o.ran("cin_hurried"); len(runs) != 2 || runs[1].trigger != store.TriggerManual {
			t.Errorf("asked anyway: %+v", runs)
		}
		if e := o.evidence("cin_hurried"); e.ActiveWait(time.Now()) != nil {
			t.Errorf("asked anyway, and it still waits: %+v", e.Waits)
		}
		time.Sleep(time.Until(began.Add(2*time.Hour - time.Second)))
		for _, id := range []string{"cin_scheduled", "cin_asked", "cin_fixed", "cin_manual", "cin_broken"} {
			if runs := o.ran(id); len(runs) != 1 {
				t.Errorf("%s: %d runs before the wait is over", id, len(runs))
			}
		}
		time.Sleep(20 * time.Second)
		for id, trigger := range map[string]store.Trigger{
			"cin_scheduled": store.TriggerScheduled, "cin_asked": store.TriggerManual, "cin_fixed": store.TriggerRetry,
			"cin_manual": store.TriggerManual,
		} {
			if runs := o.ran(id); len(runs) != 2 || runs[1].trigger != trigger || runs[1].at.Sub(runs[0].at) < 2*time.Hour {
				t.Errorf("%s, when the wait is over: %+v", id, runs)
			}
		}
		o.close(w)
	})
}

// A wait that comes to be known between the look and the start is not a failure.
func TestLaunchThatHasToWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOrchard(t)
		o.plant("cin_pear", "orchard", time.Hour)
		w := o.worker("w1", nil)
		time.Sleep(time.Minute)
		e := o.evidence("cin_pear")
		o.announces = map[string]time.Duration{"orchard": time.Hour}
		if _, err := o.Run(t.Context(), launch.RunRequest{ConnectionID: "cin_pear", Trigger: store.TriggerManual,
			Started: func(string) {}}); err != nil {
			t.Fatal(err)
		}
		if err := w.executeOrder(t.Context(), &order{Evidence: &e, trigger: store.TriggerScheduled}); !errors.Is(err,
			store.ErrWaiting) {
			t.Errorf("started within the wait: %v", err)
		}
		if b := o.evidence("cin_pear").Backoff; b != nil {
			t.Errorf("it counts as a failure: %+v", b)
		}
		o.close(w)
	})
}

// A run that the source refused part of leaves its rest in the gaps, and records no failure.
func TestRestIsNoFailure(t *testing.T) {
	t.Attr("spec", "CH-04.2")
	synctest.Test(t, func(t *testing.T) {
		o := newOrchard(t)
		o.missing = map[string][]protocol.Reason{"pressed": {protocol.ReasonRateLimited},
			"capped": {protocol.ReasonRunCapDeferred}}
		o.plant("cin_pressed", "pressed", time.Hour)
		o.plant("cin_capped", "capped", time.Hour)
		w := o.worker("w1", nil)
		time.Sleep(time.Minute)
		e := o.evidence("cin_pressed")
		if rest := cadence.ReadTiming(&e, time.Now()).Cooldown; e.Backoff != nil || rest == nil ||
			!rest.Until.Equal(e.LastRun.EndedAt.Add(time.Hour)) {
			t.Errorf("refused: %+v, and recorded %+v", rest, e.Backoff)
		}
		if e := o.evidence("cin_capped"); e.Backoff != nil || cadence.ReadTiming(&e, time.Now()).Cooldown != nil {
			t.Errorf("stopped by a cap of the owner's: %+v", e.Backoff)
		}
		o.close(w)
	})
}
