package scheduler

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// atOnce is what "at once" means for the owner: one pass.
const atOnce = passEvery + 100*time.Millisecond

func (o *orchard) ask(id string) error {
	return RunNow(o.t.Context(), o.st, store.RunRequest{ConnectionID: id, Trigger: store.TriggerManual,
		RequestedAt: time.Now()})
}

// A request by the owner takes effect with the next pass, from any process.
func TestOwnerRequestTakesEffectAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOrchard(t)
		const every = 10 * time.Minute
		o.plant("cin_pear", "orchard", every)
		if err := o.ask("cin_pear"); !errors.Is(err, ErrNoWorker) {
			t.Errorf("with nobody there: %v", err)
		}
		w := o.worker("w1", nil)
		time.Sleep(5 * time.Minute)
		o.plays("orchard", takes(time.Minute))
		o.must(o.ask("cin_pear"))
		time.Sleep(atOnce)
		var active *store.ActiveRunError
		under := o.evidence("cin_pear").Active
		if err := o.ask("cin_pear"); !errors.As(err, &active) || active.ConnectionID != "cin_pear" ||
			active.RunID != under.ID || active.Holder != "orchard" || !active.ExpiresAt.After(time.Now()) {
			t.Errorf("while it runs: %v, %+v", err, active)
		}
		stopped, err := Cancel(t.Context(), o.st, "cin_pear", time.Now())
		if err != nil || stopped.RunID != under.ID || stopped.Request {
			t.Errorf("cancel: %+v, %v", stopped, err)
		}
		time.Sleep(signalEvery + 100*time.Millisecond)
		runs := o.ran("cin_pear")
		if len(runs) != 2 || runs[1].trigger != store.TriggerManual || runs[1].status != runner.Cancelled {
			t.Fatalf("after run now and cancel: %+v", runs)
		}
		if _, err := Cancel(t.Context(), o.st, "cin_pear", time.Now()); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("cancel with nothing to stop: %v", err)
		}
		o.schedule("cin_pear", every, false)
		time.Sleep(3 * every)
		if n := len(o.ran("cin_pear")); n != 2 {
			t.Errorf("paused, and %d runs", n)
		}
		o.schedule("cin_pear", every, true)
		time.Sleep(atOnce)
		if e := o.evidence("cin_pear"); e.Active == nil {
			t.Error("resumed, and nothing runs")
		}
		time.Sleep(2 * time.Minute)
		o.schedule("cin_pear", 3*time.Minute, true)
		before := len(o.ran("cin_pear"))
		time.Sleep(3 * time.Minute)
		if n := len(o.ran("cin_pear")) - before; n != 1 {
			t.Errorf("every three minutes, and %d runs in three", n)
		}
		o.close(w)
	})
}

// A connection that is paused while its job waits does not run.
func TestPausedWhileQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOrchard(t)
		o.plays("orchard", takes(time.Minute))
		for _, id := range []string{"cin_pear", "cin_plum"} {
			o.plant(id, "orchard", time.Hour)
		}
		w := o.worker("w1", func(c *Config) { c.Slots, c.PerProvider = 1, 1 })
		time.Sleep(10 * time.Second)
		queued := "cin_plum"
		if o.evidence(queued).Active != nil {
			queued = "cin_pear"
		}
		o.schedule(queued, time.Hour, false)
		time.Sleep(10 * time.Minute)
		if runs := o.ran(queued); len(runs) != 0 {
			t.Errorf("it ran: %+v", runs)
		}
		if runs := o.ran(""); len(runs) != 1 {
			t.Errorf("%d runs", len(runs))
		}
		o.close(w)
	})
}
