package ratesim

import (
	"errors"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// stage is what a worker does next.
type stage uint8

const (
	asks stage = iota // the governor for leave to send
	arrives
	returns
	queues // for a lane
	rests  // has nothing left to fetch
)

// worker fetches one thing after another. It has exactly one next step.
type worker struct {
	stage   stage
	at      time.Duration // of its next step
	order   int           // among steps at the same time
	call    governor.Call
	sent    time.Duration
	outcome governor.Outcome
}

// next is the worker whose step comes first.
func (r *run) next() *worker {
	var first *worker
	for i := range r.workers {
		w := &r.workers[i]
		if w.stage == rests || w.stage == queues {
			continue
		}
		if first == nil || w.at < first.at || w.at == first.at && w.order < first.order {
			first = w
		}
	}
	return first
}

func (r *run) schedule(w *worker, s stage, at time.Duration) {
	r.order++
	w.stage, w.at, w.order = s, at, r.order
}

// begin gives a worker the next thing to fetch.
func (r *run) begin(w *worker) {
	if r.fresh == 0 {
		w.stage = rests
		return
	}
	r.fresh--
	if open, most := r.Governor.Lanes(); most > 0 && r.atWork(w) >= open {
		w.stage = queues
		return
	}
	r.again(w)
}

// atWork is how many others have a thing to fetch and a lane.
func (r *run) atWork(but *worker) (n int) {
	for i := range r.workers {
		if w := &r.workers[i]; w != but && w.stage != queues && w.stage != rests {
			n++
		}
	}
	return n
}

// enter lets those who queue for a lane go on, as far as lanes are open.
func (r *run) enter() {
	for i := range r.workers {
		if open, _ := r.Governor.Lanes(); r.workers[i].stage == queues && r.atWork(nil) < open {
			r.again(&r.workers[i])
		}
	}
}

// again starts over with the worker's thing, as a request of its own.
func (r *run) again(w *worker) {
	w.call = r.Governor.Call()
	r.schedule(w, asks, r.now)
}

func (r *run) advance(w *worker) {
	switch w.stage {
	case asks:
		r.ask(w)
	case arrives:
		outcome, back := r.world.answer(w.sent, r.now)
		w.outcome = outcome
		w.outcome.Sent = r.wall(w.sent)
		r.schedule(w, returns, back)
	case returns:
		r.learn(w)
	}
}

// probePause is how long a sender waits while another request probes the circuit.
const probePause = 50 * time.Millisecond

func (r *run) ask(w *worker) {
	if wait := r.paced(); wait > 0 {
		r.schedule(w, asks, r.now+wait)
		return
	}
	wait, err := w.call.Next(r.clock())
	var denied *governor.DeniedError
	switch {
	case errors.As(err, &denied):
		r.Denials++
		r.tell(Event{Kind: Denied, Wait: denied.In, Reason: denied.Reason})
		r.schedule(w, asks, r.now+max(denied.In, probePause))
	case wait > 0:
		r.tell(Event{Kind: Waits, Wait: wait})
		r.schedule(w, asks, r.now+wait)
	case r.Withdraw > 0 && r.whims.Float64() < r.Withdraw:
		r.Withdrawn++
		w.call.Withdraw()
		r.tell(Event{Kind: Withdrawn})
		r.again(w)
	default:
		r.Sends++
		w.sent, r.left = r.now, r.now
		if r.Peer != nil {
			r.Peer.Sent(r.now)
		}
		r.tell(Event{Kind: Sends})
		r.schedule(w, arrives, r.now+r.world.travel())
	}
}

// paced is how long a peer lets the next request wait.
func (r *run) paced() time.Duration {
	if r.Peer == nil {
		return 0
	}
	if early := r.left + r.Ceiling - r.now; r.Sends > 0 && early > 0 {
		return early
	}
	return r.Peer.Wait(r.now)
}

// learn takes in an answer. A thing whose attempts are used up stays to be
// fetched: it is asked for again as a new request.
func (r *run) learn(w *worker) {
	var before governor.Rate
	if r.Watch != nil {
		before, _ = r.Governor.Rate()
	}
	if r.Peer != nil {
		r.Peer.Seen(w.outcome)
	}
	again, reason := w.call.Observe(r.clock(), w.outcome)
	e := Event{Kind: Answered, Sent: w.sent, Outcome: w.outcome, Reason: reason, Before: before.Interval}
	r.tell(e)
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
		r.begin(w)
		r.enter()
		return
	case w.outcome.Kind == governor.Throttled, w.outcome.Cut: // only a limit cuts here
		r.Refusals++
	case w.outcome.Kind == governor.Failed:
		r.Failures++
	}
	if again {
		r.schedule(w, asks, r.now)
		return
	}
	r.again(w)
}
