package serve

import (
	"context"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/ops/metrics"
	"github.com/pdpp-go/pdpp/internal/schedule/scheduler"
	"github.com/pdpp-go/pdpp/internal/storage/audit"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/view"
)

func (s *process) newRecorder(ctx context.Context) *metrics.Recorder {
	installed, err := s.Connectors.Names(ctx)
	if err != nil {
		s.Log.Warn("connectors cannot be listed; their numbers go together", "error", err)
	}
	queues := make([]string, len(scheduler.Capabilities))
	for i, c := range scheduler.Capabilities {
		queues[i] = string(c)
	}
	return metrics.New(metrics.Config{
		Version: s.Worker.Version, Revision: s.Revision, Connectors: installed, Queues: queues, Verdicts: s.verdicts,
		Log: s.Log,
	})
}

// verdicts counts the connections by verdict.
func (s *process) verdicts(ctx context.Context) ([]metrics.VerdictCount, error) {
	connections := view.View{Reader: s.Store, Now: s.Now}
	counts := map[metrics.VerdictCount]int{}
	for after := ""; ; {
		page, err := connections.Page(ctx, after, 1000)
		if err != nil {
			return nil, err
		}
		for i := range page.Connections {
			v := &page.Connections[i].Verdict
			counts[metrics.VerdictCount{Tone: string(v.Pill.Tone), Channel: string(v.Channel)}]++
		}
		if after = page.Next; after == "" {
			break
		}
	}
	out := make([]metrics.VerdictCount, 0, len(counts))
	for c, n := range counts {
		c.Connections = n
		out = append(out, c)
	}
	return out, nil
}

// upkeepEvery is how old what a scrape shows of the queue may be, and how soon a
// push is tried again.
const upkeepEvery = 15 * time.Second

// afterPass asks for a push of what a look may have made pending, and does every
// now and then what need not be done in every pass. Passes follow one another.
func (s *process) afterPass(ctx context.Context, now time.Time, looked int) error {
	upkeep := now.Sub(s.keptAt) >= upkeepEvery
	if upkeep {
		if err := s.upkeep(ctx, now); err != nil {
			return err
		}
		s.keptAt = now
	}
	if upkeep || looked > 0 {
		s.wantPush()
	}
	return nil
}

// wantPush asks for a push of what is pending.
func (s *process) wantPush() {
	select {
	case s.pushWanted <- struct{}{}:
	default: // it is asked for already
	}
}

func (s *process) upkeep(ctx context.Context, now time.Time) error {
	if err := s.reportDevices(ctx, now); err != nil {
		return err
	}
	if err := s.prune(ctx, now); err != nil {
		return err
	}
	return s.measure(ctx, now)
}

// pruneEvery is how much longer than the owner wants an entry of the audit trail may stay,
// and a receipt of a device's batch. What comes again without its receipt is harmless: it
// writes nothing that is there.
const (
	pruneEvery     = time.Hour
	receiptsKept   = 30 * 24 * time.Hour
	receiptsNewest = 10_000 // of a source
)

func (s *process) prune(ctx context.Context, now time.Time) error {
	if now.Sub(s.prunedAt) < pruneEvery {
		return nil
	}
	if _, err := audit.Prune(ctx, s.Store, now); err != nil {
		return err
	}
	if _, err := s.Store.PruneReceipts(ctx, now.Add(-receiptsKept), receiptsNewest); err != nil {
		return err
	}
	s.prunedAt = now
	return nil
}

// measure counts the queue and the leases.
func (s *process) measure(ctx context.Context, now time.Time) error {
	depths, err := s.Database.Depths(ctx)
	if err != nil {
		return err
	}
	jobs := make([]metrics.JobCount, len(depths))
	for i, d := range depths {
		jobs[i] = metrics.JobCount{Queue: d.Queue, State: d.State, Jobs: int(d.Jobs)}
	}
	s.recorder.Jobs(jobs)
	leased, err := s.Store.LeasedRuns(ctx)
	if err != nil {
		return err
	}
	oldest := time.Duration(0)
	if len(leased) > 0 {
		oldest = now.Sub(leased[0].StartedAt)
	}
	s.recorder.Leases(len(leased), oldest)
	return nil
}

// meter forwards the scheduler's measurements.
type meter struct{ *metrics.Recorder }

func (m meter) Passed(looked, enqueued int, took time.Duration) {
	m.SchedulerPass(metrics.Pass{Duration: took, Looks: looked, Enqueued: enqueued})
}

func (m meter) Ran(connectorID string, trigger store.Trigger, r launch.RunResult, took time.Duration) {
	run := metrics.Run{
		Connector: connectorID, Trigger: string(trigger), Status: string(r.Status), Duration: took,
		GapsReported: r.GapsReported, GapsRecovered: r.GapsRecovered,
	}
	if r.Rate != nil {
		run.Interval = time.Duration(r.Rate.CurrentIntervalMS * float64(time.Millisecond))
	}
	if r.RateHistory != nil {
		for _, p := range r.RateHistory.Points {
			if p.Backoff != "" {
				run.Throttles++
			}
		}
	}
	m.RunEnded(run)
}
