package scheduler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/ops/logging"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

const (
	// pageSize is how many connections are checked together.
	pageSize = 500
	// checkHold is how long a claimed check is hidden from other workers. After it, the check of a dead worker is
	// claimed again.
	checkHold = 20 * time.Second
	// windowFactor limits the jobs of one provider, as a multiple of its slots on one worker. It keeps several workers
	// busy until the next pass but leaves room for others.
	windowFactor = 8
	// reclaimEvery is how often expired leases and requests of ended grants are cleaned up.
	reclaimEvery = 5 * time.Second
	// reclaimAtOnce limits the work of one transaction.
	reclaimAtOnce = 100
)

// pass checks the connections that are due for a check and queues runs.
func (s *Scheduler) pass(ctx context.Context) error {
	select {
	case s.passing <- struct{}{}:
	default:
		return nil // the current pass does it
	}
	defer func() { <-s.passing }()
	if s.draining.Load() {
		return nil
	}
	began := s.Now()
	if err := s.noticeClock(ctx, began); err != nil {
		return err
	}
	if began.Sub(s.reclaimedAt) >= reclaimEvery {
		if err := s.reclaim(ctx, began); err != nil {
			return err
		}
		if err := s.Store.EndGrants(ctx, began); err != nil {
			return wrapError(err, "end the grants that have expired")
		}
		s.reclaimedAt = began
	}
	p := passState{Scheduler: s, declared: capabilityCache{store: s.Store}}
	for {
		more, err := p.page(ctx)
		if err != nil {
			return err
		}
		if !more {
			break
		}
	}
	if s.AfterPass != nil {
		if err := s.AfterPass(ctx, s.Now(), p.checked); err != nil {
			return err
		}
	}
	s.passedAt.Store(s.Now().UnixNano())
	if s.Meter != nil {
		s.Meter.Passed(p.checked, p.added, s.Now().Sub(began))
	}
	return nil
}

// noticeClock compares the starts of two passes. After a clock step or a sleep of the machine, live runs have not
// renewed their leases yet, so expired leases are not reclaimed until they could. Times too far ahead are corrected,
// also when a worker starts. A second step in a row means a slow machine.
func (s *Scheduler) noticeClock(ctx context.Context, began time.Time) error {
	gap := began.Sub(s.beganAt)
	first := s.beganAt.IsZero()
	step := !first && (gap < -reclaimEvery || gap > launch.LeaseTTL+s.Rhythm.Pass)
	s.beganAt = began
	if step && !s.stepped || gap < 0 {
		s.reclaimedAt = began.Add(launch.LeaseTTL - reclaimEvery)
	}
	s.stepped = step
	if !first && !step {
		return nil
	}
	err := wrapError(s.Store.ClampFutureTimes(ctx, began), "correct times from a wrong clock")
	if step { // the last heartbeat is older than it may be
		err = errors.Join(err, s.beat(ctx))
	}
	return err
}

// passState is the state of one pass.
type passState struct {
	*Scheduler
	declared capabilityCache
	jobs     map[string]int // by connector, running or waiting; nil until needed
	checked  int
	added    int
}

// page handles some of the connections to check, and reports whether there may be more.
func (p *passState) page(ctx context.Context) (more bool, err error) {
	now := p.Now()
	checks, err := p.Store.ClaimChecks(ctx, now, checkHold, pageSize)
	if err != nil || len(checks) == 0 {
		return false, wrapError(err, "claim checks")
	}
	p.checked += len(checks)
	ids := make([]string, len(checks))
	for i := range checks {
		ids[i] = checks[i].ConnectionID
	}
	found, err := p.Store.Evidence(ctx, evidence.Query{ConnectionIDs: ids})
	if err != nil {
		return false, wrapError(err, "read evidence")
	}
	next, err := p.watch(ctx, found, now)
	if err != nil {
		return false, err
	}
	if err := p.enqueue(ctx, found, next, now); err != nil {
		return false, err
	}
	for i := range checks {
		checks[i].At = next.of(checks[i].ConnectionID, now)
	}
	return len(checks) == pageSize, wrapError(p.Store.PutChecks(ctx, checks), "record the next checks")
}

// nextChecks holds the earliest requested time of each connection's next check.
type nextChecks map[string]time.Time

func (m nextChecks) add(connectionID string, at time.Time) {
	if known, ok := m[connectionID]; !ok || at.Before(known) {
		m[connectionID] = at
	}
}

func (m nextChecks) of(connectionID string, now time.Time) time.Time {
	if at, ok := m[connectionID]; ok {
		return at
	}
	return now.Add(checkAtLeast)
}

// watch passes the evidence to the watchers.
func (p *passState) watch(ctx context.Context, found []evidence.Evidence, now time.Time) (nextChecks, error) {
	next := nextChecks{}
	for _, w := range p.Watchers {
		again, err := w.Check(ctx, found, now)
		if err != nil {
			return nil, err
		}
		for id, at := range again {
			next.add(id, at)
		}
	}
	return next, nil
}

// enqueue adds a job for each connection to run, and records when to check all of them again.
func (p *passState) enqueue(ctx context.Context, found []evidence.Evidence, next nextChecks, now time.Time) error {
	requests, err := p.requested(ctx)
	if err != nil {
		return err
	}
	var wants []wantedRun
	for i := range found {
		e := &found[i]
		id, connector := e.Connection.ID, e.Connection.ConnectorID
		if e.Connection.Status == evidence.StatusActive && p.declared.needs(ctx, connector) == Browser {
			p.browserNeeded.Store(now.UnixNano())
		}
		o, again := decide(e, requests[id], now)
		if o == nil {
			next.add(id, again)
			continue
		}
		w, ok := p.admit(ctx, o)
		if !ok {
			next.add(id, crowdedCheck(p.jobs[connector], p.window(), now))
			p.jobs[connector]++
			continue
		}
		next.add(id, now.Add(checkQueued))
		wants = append(wants, w)
	}
	if len(wants) == 0 {
		return nil
	}
	if err := p.queue.wake(ctx); err != nil {
		return err
	}
	added, doubtful, err := p.queue.enqueue(ctx, wants, now)
	p.added += added
	for _, id := range doubtful {
		next.add(id, now.Add(startGrace/2))
	}
	return err
}

// requested returns the requested runs by connection.
func (p *passState) requested(ctx context.Context) (map[string][]store.RunRequest, error) {
	all, err := p.Store.ListRunRequests(ctx, "")
	if err != nil {
		return nil, wrapError(err, "read the requested runs")
	}
	out := make(map[string][]store.RunRequest, len(all))
	for _, r := range all {
		out[r.ConnectionID] = append(out[r.ConnectionID], r)
	}
	return out, nil
}

func (p *passState) window() int { return p.PerProvider * windowFactor }

// admit returns the queue entry for an order. It returns false if the provider has enough jobs. Runs that the owner
// requests are always admitted.
func (p *passState) admit(ctx context.Context, o *order) (wantedRun, bool) {
	connector := o.Connection.ConnectorID
	if p.jobs == nil {
		p.jobs = map[string]int{}
		depths, err := p.Database.Depths(ctx)
		p.logFailure("counting the queue", err)
		for _, d := range depths {
			p.jobs[d.Connector] += int(d.Jobs)
		}
	}
	w := wantedRun{connectionID: o.Connection.ID, connectorID: connector, queue: string(p.declared.needs(ctx, connector)),
		priority: 2, last: o.LastRun}
	if o.trigger == store.TriggerManual {
		w.priority = 1
	} else if p.jobs[connector] >= p.window() {
		return wantedRun{}, false
	}
	p.jobs[connector]++
	return w, true
}

// reclaim ends the runs of dead workers. Each counts as a failure of its connection, so a run that crashes its worker
// is not repeated forever.
func (s *Scheduler) reclaim(ctx context.Context, now time.Time) error {
	for {
		runs, err := s.Store.AbandonExpiredRuns(ctx, now, reclaimAtOnce)
		if err != nil {
			return wrapError(err, "reclaim expired leases")
		}
		for _, r := range runs {
			s.Log.WarnContext(logging.WithRun(ctx, r.ConnectionID, r.ID), "run abandoned: its worker is gone", "connector",
				r.ConnectorID)
			if err := RecordBackoff(ctx, s.Store, r.ConnectionID, r.ID, now); err != nil {
				return err
			}
		}
		if len(runs) < reclaimAtOnce {
			return nil
		}
	}
}

func wrapError(err error, doing string) error {
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}
