package scheduler

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/riverqueue/river/rivertype"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// However often a connection's worker dies with its job, the connection gets the
// next one, and what the dead ones left does not count as running.
func TestDeathsDoNotAddUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOrchard(t)
		o.plant("cin_pear", "orchard", time.Hour)
		for death := range 100 {
			// A new process each time: it knows nothing of the deaths before.
			s, err := New(Config{clock: bubble{}, Store: o.st, Database: o.db, Runs: o,
				Worker: store.Worker{ID: "w1", Capabilities: []string{"network"}}})
			o.must(err)
			added, doubtful, err := s.queue.enqueue(t.Context(),
				[]wantedRun{{connectionID: "cin_pear", connectorID: "orchard", queue: "network", priority: 2}}, time.Now())
			o.must(err)
			if added != 1 || len(doubtful) != 0 {
				t.Fatalf("after %d deaths: %d jobs added, doubtful %v", death, added, doubtful)
			}
			// Its worker takes it and dies.
			_, err = o.db.SQLite.ExecContext(t.Context(),
				`UPDATE river_job SET state = 'running', attempted_at = ? WHERE state = 'available'`,
				time.Now().UTC().Format("2006-01-02 15:04:05.000"))
			o.must(err)
			time.Sleep(startGrace + time.Second)
		}
		depths, err := o.db.Depths(t.Context())
		o.must(err)
		if len(depths) != 1 || depths[0].Jobs != 1 {
			t.Errorf("the queue holds %+v", depths)
		}
		o.close()
	})
}

// The job of a dead worker is distinguished from one that is about to begin or to end.
func TestOrphanedJob(t *testing.T) {
	taken := time.Date(2031, 5, 4, 3, 2, 1, 0, time.UTC)
	at := func(d time.Duration) time.Time { return taken.Add(d) }
	run := func(status evidence.RunStatus, began, ended time.Duration) *evidence.Run {
		return &evidence.Run{Status: status, StartedAt: at(began), EndedAt: at(ended)}
	}
	for name, c := range map[string]struct {
		last *evidence.Run
		now  time.Duration
		want bool
	}{
		"about to begin its first run":          {nil, startGrace, false},
		"never began":                           {nil, startGrace + 1, true},
		"about to begin after an older run":     {run(evidence.RunSucceeded, -time.Hour, -time.Minute), startGrace, false},
		"about to begin after an abandoned one": {run(evidence.RunAbandoned, -time.Hour, -time.Second), startGrace, false},
		"its run has ended just now": {run(evidence.RunFailed, time.Second, time.Hour), time.Hour + startGrace,
			false},
		"its run has ended long ago": {run(evidence.RunFailed, time.Second, time.Hour), time.Hour + startGrace + 1,
			true},
		"its run was abandoned just now": {run(evidence.RunAbandoned, time.Second, time.Minute), time.Minute, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := (wantedRun{last: c.last}).orphaned(&rivertype.JobRow{AttemptedAt: &taken}, at(c.now)); got != c.want {
				t.Errorf("bereft: %v", got)
			}
		})
	}
}

// On an embedded database the queue rests while there is nothing to do, which a job of a
// dead worker is not, and wakes for a job that another process has put in.
func TestQueueRestsAndWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOrchard(t)
		o.plant("cin_pear", "orchard", 0)
		o.plant("cin_plum", "orchard", 0)
		w := o.worker("w1", nil)
		awake := func() bool {
			w.queue.mu.Lock()
			defer w.queue.mu.Unlock()
			return w.queue.awake
		}
		put := func(id string) {
			other, err := New(Config{clock: bubble{}, Store: o.st, Database: o.db, Runs: o,
				Worker: store.Worker{ID: "w2", Capabilities: []string{"network"}}})
			o.must(err)
			_, _, err = other.queue.enqueue(t.Context(),
				[]wantedRun{{connectionID: id, connectorID: "orchard", queue: "network", priority: 2}}, time.Now())
			o.must(err)
		}
		o.must(o.ask("cin_pear"))
		time.Sleep(5 * time.Second)
		if len(o.ran("cin_pear")) != 1 || !awake() {
			t.Errorf("%d runs, awake %v", len(o.ran("cin_pear")), awake())
		}
		put("cin_plum")
		_, err := o.db.SQLite.ExecContext(t.Context(),
			`UPDATE river_job SET state = 'running', attempted_at = ? WHERE state = 'available'`,
			time.Now().UTC().Format("2006-01-02 15:04:05.000"))
		o.must(err)
		time.Sleep(idleAfter + 2*beatEvery)
		if awake() {
			t.Error("nothing is to do, and it does not rest")
		}
		put("cin_pear")
		time.Sleep(beatEvery + time.Second)
		if !awake() {
			t.Error("a job waits, and it rests")
		}
		o.close(w)
	})
}
