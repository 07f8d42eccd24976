package scheduler

import (
	"context"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/ops/logging"
)

const (
	// pageSize is how many connections are checked together.
	pageSize = 500
	// checkHold is how long a claimed check is kept from other workers. One whose
	// worker dies is taken up after it.
	checkHold = 20 * time.Second
	// windowFactor bounds the jobs of one provider, taken or not, by its places on
	// one worker: enough to keep several workers busy until the next pass, few enough
	// to leave the queue to others.
	windowFactor = 8
	// reclaimEvery is how soon a lease that ran out is noticed, and a request whose
	// grant is over.
	reclaimEvery = 5 * time.Second
	// reclaimAtOnce bounds one transaction's work.
	reclaimAtOnce = 100
)

// pass checks what is to be checked, and queues what is to be run.
func (s *Scheduler) pass(ctx context.Context) error {
	if s.draining.Load() || !s.passes.TryLock() {
		return nil // the pass under way does it
	}
	defer s.passes.Unlock()
	began := s.Now()
	if err := s.noticeClock(ctx, began); err != nil {
		return err
	}
	if began.Sub(s.reclaimedAt) >= reclaimEvery {
		if err := s.reclaim(ctx, began); err != nil {
			return err
		}
		if err := s.Store.WithdrawUngranted(ctx, began); err != nil {
			return wrap(err, "take back what grants asked for that are over")
		}
		s.reclaimedAt = began
	}
	p := round{Scheduler: s, declared: declared{store: s.Store}}
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

// noticeClock compares the beginnings of two passes. Where the clock was set or the machine slept, live runs have not
// renewed their leases by the new time yet: expired ones are not touched until they could. What a wrong clock dated
// too far ahead is brought back, also at the start of a worker. A second step in a row is a slow machine.
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
	return wrap(s.Store.BringBack(ctx, began), "bring back what a wrong clock dated")
}

// round is one pass.
type round struct {
	*Scheduler
	declared declared
	jobs     map[string]int // by connector, taken or not; nil before the first is needed
	checked  int
	added    int
}

// page deals with some of the connections that are to be checked, and reports
// whether there may be more.
func (p *round) page(ctx context.Context) (more bool, err error) {
	now := p.Now()
	checks, err := p.Store.ClaimChecks(ctx, now, checkHold, pageSize)
	if err != nil || len(checks) == 0 {
		return false, wrap(err, "claim checks")
	}
	p.checked += len(checks)
	ids := make([]string, len(checks))
	for i := range checks {
		ids[i] = checks[i].ConnectionID
	}
	found, err := p.Store.Evidence(ctx, evidence.Query{ConnectionIDs: ids})
	if err != nil {
		return false, wrap(err, "read evidence")
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
	return len(checks) == pageSize, wrap(p.Store.PutChecks(ctx, checks), "record the next checks")
}

// nextChecks say when connections are checked again: the earliest that was asked for.
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

// watch shows the connections to those who watch.
func (p *round) watch(ctx context.Context, found []evidence.Evidence, now time.Time) (nextChecks, error) {
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

// enqueue gives a job to each connection that is to be run, and notes when to look
// at all of them again.
func (p *round) enqueue(ctx context.Context, found []evidence.Evidence, next nextChecks, now time.Time) error {
	requests, err := p.requested(ctx)
	if err != nil {
		return err
	}
	var wants []want
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
			next.add(id, crowded(p.jobs[connector], p.window(), now))
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

// requested gives the runs that somebody asked for.
func (p *round) requested(ctx context.Context) (map[string][]store.RunRequest, error) {
	all, err := p.Store.ListRunRequests(ctx, "")
	if err != nil {
		return nil, wrap(err, "read the requested runs")
	}
	out := make(map[string][]store.RunRequest, len(all))
	for _, r := range all {
		out[r.ConnectionID] = append(out[r.ConnectionID], r)
	}
	return out, nil
}

func (p *round) window() int { return p.PerProvider * windowFactor }

// admit gives a job's place in the queue, and refuses when the provider has
// enough jobs already. What the owner asks for always has a place.
func (p *round) admit(ctx context.Context, o *order) (want, bool) {
	connector := o.Connection.ConnectorID
	if p.jobs == nil {
		p.jobs = map[string]int{}
		depths, err := p.Database.Depths(ctx)
		p.tell("counting the queue", err)
		for _, d := range depths {
			p.jobs[d.Connector] += int(d.Jobs)
		}
	}
	w := want{connectionID: o.Connection.ID, connectorID: connector, queue: string(p.declared.needs(ctx, connector)), priority: 2, last: o.LastRun}
	if o.trigger == store.TriggerManual {
		w.priority = 1
	} else if p.jobs[connector] >= p.window() {
		return want{}, false
	}
	p.jobs[connector]++
	return w, true
}

// reclaim ends the runs of dead workers. Each counts as a failure of its
// connection, so that one that kills its worker is not tried for ever.
func (s *Scheduler) reclaim(ctx context.Context, now time.Time) error {
	for {
		runs, err := s.Store.Reclaim(ctx, now, reclaimAtOnce)
		if err != nil {
			return wrap(err, "reclaim expired leases")
		}
		for _, r := range runs {
			s.Log.WarnContext(logging.WithRun(ctx, r.ConnectionID, r.ID), "run abandoned: its worker is gone", "connector", r.ConnectorID)
			if err := Settle(ctx, s.Store, r.ConnectionID, r.ID, now); err != nil {
				return err
			}
		}
		if len(runs) < reclaimAtOnce {
			return nil
		}
	}
}

func wrap(err error, doing string) error {
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}
