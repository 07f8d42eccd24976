package scheduler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// A provider with endless runs uses only its own slots: another provider's connections run on time.
func TestSlowProviderLeavesRoom(t *testing.T) {
	t.Attr("spec", "PB-A05")
	synctest.Test(t, func(t *testing.T) {
		o := newOrchard(t)
		o.plays("slow", takes(10*time.Hour))
		for i := range 20 {
			o.plant(fmt.Sprintf("cin_slow_%03d", i), "slow", time.Hour)
		}
		w := o.worker("w1", func(c *Config) { c.Slots, c.PerProvider = 4, 2 })
		time.Sleep(10 * time.Second)
		o.plant("cin_quick", "quick", 20*time.Second)
		time.Sleep(time.Minute - time.Second)
		if n := o.mostAtOnce("slow"); n != 2 {
			t.Errorf("%d slow runs at once", n)
		}
		runs := o.ran("cin_quick")
		if len(runs) != 3 {
			t.Errorf("the quick one ran %d times in a minute", len(runs))
		}
		depths, err := o.db.Depths(t.Context())
		o.must(err)
		for _, d := range depths {
			if most := map[string]int64{"slow": 2 * windowFactor, "quick": 1}[d.Connector]; d.Jobs > most {
				t.Errorf("%d jobs of %q, at most %d", d.Jobs, d.Connector, most)
			}
		}
		o.close(w)
	})
}

// Another worker takes over the connection of a dead worker within thirty seconds. The job that River regards as
// running does not prevent that.
func TestDeadWorkerIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOrchard(t)
		o.plant("cin_pear", "orchard", time.Hour)
		o.plays("orchard", takes(2*time.Minute))
		died := o.worker("w1", nil)
		time.Sleep(10 * time.Second)
		first := o.evidence("cin_pear").Active
		if first == nil {
			t.Fatal("nothing runs")
		}
		o.dead.Store(true)
		died.draining.Store(true) // it makes no passes and takes nothing
		heir := &orchard{t: t, st: o.st, db: o.db, under: map[string]int{}, most: map[string]int{}}
		w := heir.worker("w2", nil)
		time.Sleep(30 * time.Second)
		run, err := o.st.Run(t.Context(), first.ID)
		o.must(err)
		if run.Status != store.RunAbandoned {
			t.Errorf("the dead worker's run is %s", run.Status)
		}
		e := o.evidence("cin_pear")
		if e.LastRun == nil || e.LastRun.ID == first.ID || e.LastRun.Status != evidence.RunSucceeded {
			t.Errorf("after it: %+v", e.LastRun)
		}
		if len(heir.ran("cin_pear")) != 1 {
			t.Errorf("the heir ran %v", heir.ran("cin_pear"))
		}
		time.Sleep(3 * time.Minute) // the dead one's run ends, and writes nothing
		if run, _ := o.st.Run(t.Context(), first.ID); run.Status != store.RunAbandoned {
			t.Errorf("the dead run came back as %s", run.Status)
		}
		died.draining.Store(false)
		o.must(died.Stop(t.Context()))
		o.close(w)
	})
}

// A stopping worker lets its run finish the slice and releases the connection. The next worker resumes the run at
// once.
func TestDrainHandsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOrchard(t)
		o.plant("cin_pear", "orchard", time.Hour)
		o.plays("orchard", takes(30*time.Minute))
		first := o.worker("w1", nil)
		time.Sleep(10 * time.Second)
		began := time.Now()
		o.must(first.Stop(t.Context()))
		if took := time.Since(began); took > time.Second {
			t.Errorf("the drain took %v", took)
		}
		if e := o.evidence("cin_pear"); e.Active != nil {
			t.Error("the lease is still held")
		}
		r, err := o.st.RunRequest(t.Context(), "cin_pear")
		if err != nil || r.Trigger != store.TriggerScheduled {
			t.Errorf("requeued as %+v, %v", r, err)
		}
		rt, err := o.st.Runtime(t.Context())
		if err != nil || len(rt.Components) != 1 || rt.Components[0].Status != evidence.ProbeIdle {
			t.Errorf("switched off, and reported as %+v, %v", rt, err)
		}
		second := o.worker("w2", nil)
		time.Sleep(5 * time.Second)
		if e := o.evidence("cin_pear"); e.Active == nil {
			t.Error("the next worker left it")
		}
		o.close(second)
	})
}

// A run that does not listen when the worker stops is ended after a while, sooner than a
// service manager would kill it, and put back like one that did.
func TestDeafRunIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOrchard(t)
		o.plant("cin_pear", "orchard", time.Hour)
		var cause error
		o.plays("orchard", func(ctx context.Context, _ *orchard, _ launch.RunRequest) runner.Outcome {
			<-ctx.Done()
			cause = context.Cause(ctx)
			return runner.Outcome{Status: runner.Cancelled, Failure: &runner.Failure{Reason: runner.ReasonShutdown}}
		})
		w := o.worker("w1", nil)
		time.Sleep(10 * time.Second)
		patience, enough := context.WithTimeout(t.Context(), 10*time.Second)
		defer enough()
		began := time.Now()
		if err := w.Stop(patience); err != nil {
			t.Errorf("stop: %v", err)
		}
		if took := time.Since(began); took < drainGrace || took > drainGrace+time.Second || !errors.Is(cause, errDraining) {
			t.Errorf("the run was ended after %v: %v", took, cause)
		}
		if r, err := o.st.RunRequest(t.Context(), "cin_pear"); err != nil || r.Trigger != store.TriggerScheduled {
			t.Errorf("put back as %+v, %v", r, err)
		}
		o.close()
	})
}

// Browsers need many resources: no more of them run at once than configured, and the others wait.
func TestBrowserSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOrchard(t)
		o.plays("visits", takes(time.Minute))
		o.plays("orchard", takes(time.Minute))
		for i := range 3 {
			o.plantWith(fmt.Sprintf("cin_visit_%d", i), "visits", time.Hour, "browser")
			o.plant(fmt.Sprintf("cin_pear_%d", i), "orchard", time.Hour)
		}
		w := o.worker("w1", func(c *Config) {
			c.Worker.Capabilities = []string{"network", "browser"}
			c.Slots, c.BrowserSlots = 4, 1
		})
		if w.Worker.Slots != 5 {
			t.Errorf("the worker has %d places", w.Worker.Slots)
		}
		time.Sleep(10 * time.Minute)
		if n := o.mostAtOnce("visits"); n != 1 {
			t.Errorf("%d browsers at once", n)
		}
		if n := o.mostAtOnce("orchard"); n != 3 {
			t.Errorf("%d others at once", n)
		}
		for i := range 3 {
			if n := len(o.ran(fmt.Sprintf("cin_visit_%d", i))); n != 1 {
				t.Errorf("visit %d ran %d times", i, n)
			}
		}
		o.close(w)
	})
}

// A machine takes only what it can run.
func TestQueuesByCapability(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOrchard(t)
		o.plant("cin_pear", "orchard", time.Hour)
		w := o.worker("w1", func(c *Config) { c.Worker.Capabilities = []string{"local"} })
		time.Sleep(time.Minute)
		if runs := o.ran(""); len(runs) != 0 {
			t.Errorf("a worker without network ran %v", runs)
		}
		able := o.worker("w2", nil)
		time.Sleep(launch.LeaseTTL)
		if runs := o.ran(""); len(runs) != 1 {
			t.Errorf("with network: %v", runs)
		}
		o.close(w, able)
	})
}

// A job without a slot of its provider is snoozed for a few seconds. That is not a failure, and jobs that were
// snoozed together do not return together.
func TestCrowdedJobIsPutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOrchard(t)
		o.plays("slow", takes(time.Hour))
		for i := range 4 {
			o.plant(fmt.Sprintf("cin_slow_%d", i), "slow", 2*time.Hour)
		}
		w := o.worker("w1", func(c *Config) { c.Slots, c.PerProvider = 4, 1 })
		put := map[string]bool{}
		for range 20 {
			time.Sleep(500 * time.Millisecond)
			rows, err := o.db.SQLite.QueryContext(t.Context(),
				`SELECT scheduled_at, attempt, errors IS NOT NULL FROM river_job WHERE state <> 'running' AND finalized_at IS NULL`)
			o.must(err)
			for rows.Next() {
				var at string
				var attempts int
				var failed bool
				o.must(rows.Scan(&at, &attempts, &failed))
				due, err := time.Parse(time.RFC3339Nano, at)
				o.must(err)
				if left := time.Until(due); failed || left > snoozeCrowded*3/2 {
					t.Errorf("a job comes back in %v, after %d attempts, failed %v", left, attempts, failed)
				}
				put[at] = true
			}
			o.must(rows.Err())
			o.must(rows.Close())
		}
		// Three wait, and each is put off for three seconds at least.
		if len(put) < 3 || len(put) > 12 {
			t.Errorf("in ten seconds jobs were put off until %d moments", len(put))
		}
		o.close(w)
	})
}

// A run that starts takes back that the connector was missing, and nothing else that
// is known of the connection.
func TestRunTakesBackOnlyTheMissingConnector(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOrchard(t)
		o.plant("cin_pear", "orchard", time.Hour)
		kept := []evidence.Probe{
			{Dimension: evidence.ProbeRuntime, Name: "binding:network", Status: evidence.ProbeOK},
			{Dimension: evidence.ProbeTool, Name: probeConnector, Status: evidence.ProbeOK},
		}
		for _, p := range append(kept, evidence.Probe{Dimension: evidence.ProbeRuntime, Name: probeConnector,
			Status: evidence.ProbeFailed, Reason: "connector_not_installed"}) {
			p.At = time.Now()
			o.must(o.st.PutProbe(t.Context(), store.Probe{ConnectionID: "cin_pear", Probe: p}))
		}
		w := o.worker("w1", nil)
		time.Sleep(time.Minute)
		if n := len(o.ran("cin_pear")); n != 1 {
			t.Fatalf("%d runs", n)
		}
		left := o.evidence("cin_pear").Probes
		if len(left) != len(kept) ||
			slices.ContainsFunc(left, func(p evidence.Probe) bool { return p.Status != evidence.ProbeOK }) {
			t.Errorf("after a run it is known: %+v", left)
		}
		o.close(w)
	})
}

// absent is a machine on which no connector is installed.
type absent struct{}

func (absent) Run(context.Context, launch.RunRequest) (launch.RunResult, error) {
	return launch.RunResult{}, catalog.ErrUnknownConnector
}

// A worker that lacks the connector of a due connection reports it in the connection's health, until a later check.
func TestMissingConnectorIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOrchard(t)
		o.plant("cin_pear", "orchard", time.Hour)
		w := o.worker("w1", func(c *Config) { c.Runs = absent{} })
		time.Sleep(snoozeMissing / 2)
		probes := o.evidence("cin_pear").Probes
		if len(probes) != 1 || probes[0].Reason != "connector_not_installed" || probes[0].Status != evidence.ProbeFailed {
			t.Fatalf("known of the connection: %+v", probes)
		}
		if until := probes[0].ExpiresAt; until == nil || until.Sub(probes[0].At) <= snoozeMissing {
			t.Errorf("it holds from %v until %v, and is looked for again every %v", probes[0].At, until, snoozeMissing)
		}
		o.close(w)
	})
}

// overseer keeps what it is shown, and takes its time.
type overseer struct {
	takes time.Duration
	saw   []string
}

func (v *overseer) Check(_ context.Context, page []evidence.Evidence, _ time.Time) (map[string]time.Time, error) {
	for i := range page {
		v.saw = append(v.saw, page[i].Connection.ID)
	}
	time.Sleep(v.takes)
	return nil, nil
}

// What one worker is checking no other one checks, until the hold is over: then the
// worker is taken for dead.
func TestCheckIsHeld(t *testing.T) {
	for _, c := range []struct {
		takes time.Duration
		again int
	}{{checkHold / 2, 0}, {2 * checkHold, 1}} {
		synctest.Test(t, func(t *testing.T) {
			o := newOrchard(t)
			o.plant("cin_pear", "orchard", 0)
			slow, quick := &overseer{takes: c.takes}, &overseer{}
			first := o.worker("w1", func(c *Config) { c.Watchers = []Watcher{slow} })
			time.Sleep(passEvery)
			second := o.worker("w2", func(c *Config) { c.Watchers = []Watcher{quick} })
			time.Sleep(checkHold + 2*passEvery)
			synctest.Wait()
			if len(slow.saw) != 1 || len(quick.saw) != c.again {
				t.Errorf("a check of %v: seen by its worker %v and by the other %v", c.takes, slow.saw, quick.saw)
			}
			o.close(first, second)
		})
	}
}
