package ratesim

import (
	"errors"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// workerStage is what a worker does next.
type workerStage uint8

const (
	stageAsks workerStage = iota // the governor for leave to send
	stageArrives
	stageReturns
	stageQueues // for a lane
	stageRests  // has nothing left to fetch
)

// fetchWorker fetches one item after another. It has exactly one next step.
type fetchWorker struct {
	stage   workerStage
	at      time.Duration // of its next step
	order   int           // among steps at the same time
	call    governor.Call
	sent    time.Duration
	outcome governor.Outcome
}

// nextWorker returns the worker with the earliest step.
func (r *run) nextWorker() *fetchWorker {
	var first *fetchWorker
	for i := range r.workers {
		w := &r.workers[i]
		if w.stage == stageRests || w.stage == stageQueues {
			continue
		}
		if first == nil || w.at < first.at || w.at == first.at && w.order < first.order {
			first = w
		}
	}
	return first
}

func (r *run) scheduleStep(w *fetchWorker, s workerStage, at time.Duration) {
	r.order++
	w.stage, w.at, w.order = s, at, r.order
}

// startItem assigns the next item to a worker.
func (r *run) startItem(w *fetchWorker) {
	if r.fresh == 0 {
		w.stage = stageRests
		return
	}
	r.fresh--
	if open, most := r.Governor.Lanes(); most > 0 && r.busyWorkers(w) >= open {
		w.stage = stageQueues
		return
	}
	r.retryItem(w)
}

// busyWorkers returns how many other workers have an item and a lane.
func (r *run) busyWorkers(but *fetchWorker) (n int) {
	for i := range r.workers {
		if w := &r.workers[i]; w != but && w.stage != stageQueues && w.stage != stageRests {
			n++
		}
	}
	return n
}

// admitQueued admits queued workers while lanes are free.
func (r *run) admitQueued() {
	for i := range r.workers {
		if open, _ := r.Governor.Lanes(); r.workers[i].stage == stageQueues && r.busyWorkers(nil) < open {
			r.retryItem(&r.workers[i])
		}
	}
}

// retryItem starts the worker's item again, as a new request.
func (r *run) retryItem(w *fetchWorker) {
	w.call = r.Governor.Call()
	r.scheduleStep(w, stageAsks, r.now)
}

func (r *run) advanceWorker(w *fetchWorker) {
	switch w.stage {
	case stageAsks:
		r.askGovernor(w)
	case stageArrives:
		outcome, back := r.world.decideRequest(w.sent, r.now)
		w.outcome = outcome
		w.outcome.Sent = r.wallTime(w.sent)
		r.scheduleStep(w, stageReturns, back)
	case stageReturns:
		r.learnAnswer(w)
	}
}

// probePause is how long a sender waits while another request probes the circuit.
const probePause = 50 * time.Millisecond

func (r *run) askGovernor(w *fetchWorker) {
	if wait := r.peerDelay(); wait > 0 {
		r.scheduleStep(w, stageAsks, r.now+wait)
		return
	}
	wait, err := w.call.Next(r.clockTime())
	var denied *governor.DeniedError
	switch {
	case errors.As(err, &denied):
		r.Denials++
		r.notifyObserver(RunEvent{Kind: EventDenied, Wait: denied.In, Reason: denied.Reason})
		r.scheduleStep(w, stageAsks, r.now+max(denied.In, probePause))
	case wait > 0:
		r.notifyObserver(RunEvent{Kind: EventWaits, Wait: wait})
		r.scheduleStep(w, stageAsks, r.now+wait)
	case r.Withdraw > 0 && r.whims.Float64() < r.Withdraw:
		r.Withdrawn++
		w.call.Withdraw()
		r.notifyObserver(RunEvent{Kind: EventWithdrawn})
		r.retryItem(w)
	default:
		r.Sends++
		w.sent, r.left = r.now, r.now
		if r.Peer != nil {
			r.Peer.Sent(r.now)
		}
		r.notifyObserver(RunEvent{Kind: EventSends})
		r.scheduleStep(w, stageArrives, r.now+r.world.travelTime())
	}
}

// peerDelay is how long a peer lets the next request wait.
func (r *run) peerDelay() time.Duration {
	if r.Peer == nil {
		return 0
	}
	if early := r.left + r.Ceiling - r.now; r.Sends > 0 && early > 0 {
		return early
	}
	return r.Peer.Wait(r.now)
}

// learnAnswer processes an answer. An item that used up its attempts is requested again as a new request.
func (r *run) learnAnswer(w *fetchWorker) {
	var before governor.Rate
	if r.Watch != nil {
		before, _ = r.Governor.Rate()
	}
	if r.Peer != nil {
		r.Peer.Seen(w.outcome)
	}
	again, reason := w.call.Observe(r.clockTime(), w.outcome)
	e := RunEvent{Kind: EventAnswered, Sent: w.sent, Outcome: w.outcome, Reason: reason, Before: before.Interval}
	r.notifyObserver(e)
	switch {
	case w.outcome.Kind == governor.Success, w.outcome.Kind == governor.Rejected:
		if r.fetched++; r.fetched == ShortRun {
			r.First = r.now
		}
		if w.outcome.Kind == governor.Success {
			r.Successes++
		} else {
			r.Rejections++
		}
		r.startItem(w)
		r.admitQueued()
		return
	case w.outcome.Kind == governor.Throttled, w.outcome.Cut: // only a limit cuts here
		r.Refusals++
	case w.outcome.Kind == governor.Failed:
		r.Failures++
	}
	if again {
		r.scheduleStep(w, stageAsks, r.now)
		return
	}
	r.retryItem(w)
}
