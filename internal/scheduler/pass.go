package scheduler

import (
	"context"
	"fmt"
	"time"

	"pdpp/internal/cadence"
	"pdpp/internal/evidence"
	"pdpp/internal/store"
)

const (
	// pageSize is how many connections are looked at together.
	pageSize = 500
	// lookHold is how long a claimed look is kept from other workers. One whose
	// worker dies is taken up after it.
	lookHold = 20 * time.Second
	// windowFactor bounds the jobs of one provider, taken or not, by its places on
	// one worker: enough to keep several workers busy until the next pass, few enough
	// to leave the queue to others.
	windowFactor = 8
	// reclaimEvery is how soon a lease that ran out is noticed.
	reclaimEvery = 5 * time.Second
	// reclaimAtOnce bounds one transaction's work.
	reclaimAtOnce = 100
)

// pass looks at what is to be looked at, and queues what is to be run.
func (s *Scheduler) pass(ctx context.Context) error {
	if s.draining.Load() || !s.passes.TryLock() {
		return nil // the pass under way does it
	}
	defer s.passes.Unlock()
	began := s.Now()
	if began.Sub(s.reclaimedAt) >= reclaimEvery {
		if err := s.reclaim(ctx, began); err != nil {
			return err
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
	for _, after := range s.AfterPass {
		if err := after(ctx, s.Now(), p.looked); err != nil {
			return err
		}
	}
	s.passedAt.Store(s.Now().UnixNano())
	if s.Meter != nil {
		s.Meter.Passed(p.looked, p.added, s.Now().Sub(began))
	}
	return nil
}

// round is one pass.
type round struct {
	*Scheduler
	declared declared
	jobs     map[string]int // by connector, taken or not; nil before the first is needed
	looked   int
	added    int
}

// page deals with some of the connections that are to be looked at, and reports
// whether there may be more.
func (p *round) page(ctx context.Context) (more bool, err error) {
	now := p.Now()
	looks, err := p.Store.Looks(ctx, now, lookHold, pageSize)
	if err != nil || len(looks) == 0 {
		return false, wrap(err, "find what to look at")
	}
	ids := make([]string, len(looks))
	at := make(map[string]*store.Look, len(looks))
	for i := range looks {
		ids[i], at[looks[i].ConnectionID] = looks[i].ConnectionID, &looks[i]
		looks[i].At = now.Add(lookAtLeast)
	}
	found, err := p.Store.Evidence(ctx, evidence.Query{ConnectionIDs: ids})
	if err != nil {
		return false, wrap(err, "read evidence")
	}
	var again []map[string]time.Time
	for _, w := range p.Watchers {
		soon, err := w.Look(ctx, found, now)
		if err != nil {
			return false, err
		}
		again = append(again, soon)
	}
	requests, err := p.requested(ctx)
	if err != nil {
		return false, err
	}
	var wants []want
	for i := range found {
		e := &found[i]
		if e.Connection.Status == evidence.StatusActive && p.declared.needs(ctx, e.Connection.ConnectorID) == Browser {
			p.browserNeeded.Store(now.UnixNano())
		}
		request, asked := requests[e.Connection.ID]
		run, look := plan(e, asked, now)
		if run {
			if w, ok := p.admit(ctx, e, asked && request.Trigger == store.TriggerManual); ok {
				wants = append(wants, w)
			} else {
				look = crowded(p.jobs[e.Connection.ConnectorID], p.window(), now)
				p.jobs[e.Connection.ConnectorID]++
			}
		}
		at[e.Connection.ID].At = look
	}
	if len(wants) > 0 {
		if err := p.queue.wake(ctx); err != nil {
			return false, err
		}
	}
	added, doubtful, err := p.queue.enqueue(ctx, wants, now)
	p.looked, p.added = p.looked+len(looks), p.added+added
	if err != nil {
		return false, err
	}
	for _, id := range doubtful {
		at[id].At = now.Add(startGrace / 2)
	}
	for _, soon := range again {
		for id, t := range soon {
			if l := at[id]; l != nil && t.Before(l.At) {
				l.At = t
			}
		}
	}
	return len(looks) == pageSize, wrap(p.Store.PutLooks(ctx, looks), "record when to look again")
}

// requested gives the runs that somebody asked for.
func (p *round) requested(ctx context.Context) (map[string]store.RunRequest, error) {
	all, err := p.Store.ListRunRequests(ctx)
	if err != nil {
		return nil, wrap(err, "read the requested runs")
	}
	out := make(map[string]store.RunRequest, len(all))
	for _, r := range all {
		out[r.ConnectionID] = r
	}
	return out, nil
}

func (p *round) window() int { return p.PerProvider * windowFactor }

// admit gives a job's place in the queue, and refuses when the provider has
// enough jobs already. What the owner asks for always has a place.
func (p *round) admit(ctx context.Context, e *evidence.Evidence, owner bool) (want, bool) {
	connector := e.Connection.ConnectorID
	if p.jobs == nil {
		p.jobs = map[string]int{}
		depths, err := p.Database.Depths(ctx)
		p.tell("counting the queue", err)
		for _, d := range depths {
			p.jobs[d.Connector] += int(d.Jobs)
		}
	}
	w := want{connectionID: e.Connection.ID, connectorID: connector, queue: string(p.declared.needs(ctx, connector)), priority: 2, last: e.LastRun}
	if owner {
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
			s.Log.Warn("run abandoned: its worker is gone", "run_id", r.ID, "connector", r.ConnectorID)
			if err := settleAbandoned(ctx, s.Store, r, now); err != nil {
				return err
			}
		}
		if len(runs) < reclaimAtOnce {
			return nil
		}
	}
}

// settleAbandoned records how long to wait after a run that died.
func settleAbandoned(ctx context.Context, st store.Store, r store.Run, now time.Time) error {
	found, err := st.Evidence(ctx, evidence.Query{ConnectionIDs: []string{r.ConnectionID}})
	if err != nil || len(found) == 0 {
		return wrap(err, "read evidence")
	}
	e := &found[0]
	if e.LastRun == nil || e.LastRun.ID != r.ID {
		return nil // another run came after it, and decides
	}
	return keepWait(ctx, st, e.Connection.ID, cadence.Standing(e), cadence.AfterRun(cadence.Standing(e), *e.LastRun, cadence.Every(e), now))
}

func wrap(err error, doing string) error {
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}
