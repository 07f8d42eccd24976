package scheduler

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// A worker with failing passes stops reporting, from its start on, and reports again when they succeed.
func TestFailingPassesFallSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOrchard(t)
		failing := true
		w := o.worker("w1", func(c *Config) {
			c.AfterPass = func(context.Context, time.Time, int) error {
				if failing {
					return errors.New("the gate is stuck")
				}
				return nil
			}
		})
		silence := func() time.Duration {
			rt, err := o.st.Runtime(t.Context())
			o.must(err)
			return time.Since(rt.Components[0].At)
		}
		time.Sleep(2 * time.Minute)
		if s := silence(); s < time.Minute {
			t.Errorf("the scheduler was heard of %v ago", s)
		}
		w.passing <- struct{}{}
		failing = false
		<-w.passing
		time.Sleep(beatEvery + passEvery)
		if s := silence(); s > beatEvery {
			t.Errorf("fixed, and heard of %v ago", s)
		}
		o.close(w)
	})
}

// Workers that were killed stay on the list for a day.
func TestDeadWorkersAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOrchard(t)
		for id, ago := range map[string]time.Duration{"dead": 25 * time.Hour, "lately": 23 * time.Hour} {
			o.must(o.st.PutWorker(t.Context(),
				store.Worker{ID: id, StartedAt: time.Now().Add(-ago), SeenAt: time.Now().Add(-ago)}))
		}
		w := o.worker("w1", nil)
		workers, err := o.st.Workers(t.Context())
		o.must(err)
		if len(workers) != 2 || workers[0].ID != "lately" || workers[1].ID != "w1" || !AnyAlive(workers, time.Now()) ||
			AnyAlive(workers[:1], time.Now()) {
			t.Errorf("workers %+v", workers)
		}
		o.close(w)
	})
}

// A connection that needs a browser makes its lack a fault of the runtime, until
// a worker has one.
func TestMissingBrowserIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOrchard(t)
		o.plantWith("cin_pear", "painter", time.Hour, "browser")
		status := func() (found evidence.ProbeStatus) {
			rt, err := o.st.Runtime(t.Context())
			o.must(err)
			for _, c := range rt.Components {
				if c.Name == componentBrowser {
					found = c.Status
				}
			}
			return found
		}
		w := o.worker("w1", nil)
		time.Sleep(beatEvery + time.Second)
		if got := status(); got != evidence.ProbeFailed {
			t.Errorf("without a browser: %q", got)
		}
		able := o.worker("w2", func(c *Config) { c.Worker.Capabilities = []string{"browser"} })
		time.Sleep(beatEvery + time.Second)
		if got := status(); got != evidence.ProbeOK {
			t.Errorf("with a browser: %q", got)
		}
		if len(o.ran("cin_pear")) != 1 {
			t.Errorf("it ran %v", o.ran("cin_pear"))
		}
		o.close(w, able)
	})
}
