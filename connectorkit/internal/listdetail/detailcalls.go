package listdetail

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/pdpp-go/pdpp/connectorkit/internal/runstate"
	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// If the author allows it, details are fetched ahead of their turn, with as many concurrent calls as the governor
// has lanes open. That is one, and so none ahead, until response times and not the pace limit the run. Each item
// then has its turn as if it had been fetched separately: order, slices, gaps and failures are the same.

// detailCall is a call of the author's code that is in progress, or finished and waiting for its turn.
type detailCall struct {
	over    chan struct{} // closed when the call has ended
	callOff context.CancelFunc
	records []runstate.Record
	err     error
	panics  any
}

var errNoReturn = errors.New("the call for a detail did not return")

// startDetailCall starts a call. It signals landed when the call is over.
func startDetailCall(ctx context.Context, call func(context.Context) ([]runstate.Record, error),
	landed chan<- struct{}) *detailCall {
	ctx, callOff := context.WithCancel(ctx)
	f := &detailCall{over: make(chan struct{}), callOff: callOff, err: errNoReturn}
	go func() {
		defer func() {
			if p := recover(); p != nil {
				f.panics = fmt.Sprintf("%v\n\n%s", p, debug.Stack())
			}
			callOff()
			close(f.over)
			select {
			case landed <- struct{}{}:
			default: // already signaled
			}
		}()
		f.records, f.err = call(ctx)
	}()
	return f
}

// isFinished reports whether the call is over.
func (f *detailCall) isFinished() bool {
	select {
	case <-f.over:
		return true
	default:
		return false
	}
}

// heldByCircuit reports whether our own open circuit prevented a finished call. Its turn repeats it, when the circuit
// may have closed.
func (f *detailCall) heldByCircuit() bool {
	var s *governhttp.Stopped
	return errors.As(f.err, &s) && s.Reason == governor.CircuitOpen
}

// waitingPerLane bounds the details per lane that are in flight or wait for their turn: a slow one does not block
// other lanes, and memory stays bounded.
const waitingPerLane = 2

// launchCalls fetches the next items, as many as there are lanes. It starts nothing after a failed one, because its
// turn decides whether to continue.
func (l *Run) launchCalls(ctx context.Context) error {
	lanes := l.r.LaneCount()
	if lanes < 2 {
		return nil
	}
	waiting, underWay := 0, 0
	for _, f := range l.ahead {
		switch {
		case f.flight == nil:
			continue
		case !f.flight.isFinished():
			underWay++
		case f.flight.err != nil || f.flight.panics != nil:
			return nil
		}
		waiting++
	}
	most := min(lanes-underWay, waitingPerLane*lanes-waiting)
	if most <= 0 {
		return nil
	}
	for _, item := range l.nextDueItems(l.coming, most) {
		if err := l.announceAttempt(ctx, item.Key); err != nil {
			return err
		}
		if err := l.r.Out.Flush(ctx); err != nil {
			return err
		}
		call := func(ctx context.Context) ([]runstate.Record, error) { return l.Fetch(ctx, item) }
		l.ahead[item.Key] = fetchResult{item: item, flight: startDetailCall(ctx, call, l.landed)}
	}
	return nil
}

// awaitCall waits for the call for an item and keeps the other lanes busy. It repeats a panic of the call.
func (l *Run) awaitCall(ctx context.Context, f fetchResult) (fetchResult, error) {
	for !f.flight.isFinished() {
		select {
		case <-f.flight.over:
		case <-l.landed:
			if err := l.launchCalls(ctx); err != nil {
				return f, err
			}
		}
	}
	if f.flight.panics != nil {
		panic(f.flight.panics)
	}
	f.Fetched = Fetched{Key: f.item.Key, Records: f.flight.records, Err: f.flight.err}
	f.omitted = f.flight.heldByCircuit()
	return f, nil
}

// waitForCalls waits for calls in flight when the lane stops, so that their results are known. If the stop ends the
// run, the calls are canceled, and those without success count as not made.
func (l *Run) waitForCalls(ends bool) {
	for _, f := range l.ahead {
		if f.flight != nil && ends {
			f.flight.callOff()
		}
	}
	for key, f := range l.ahead {
		if f.flight == nil {
			continue
		}
		if <-f.flight.over; f.flight.panics == nil && (f.flight.heldByCircuit() || ends && f.flight.err != nil) {
			l.ahead[key] = fetchResult{item: f.item, omitted: true}
		}
	}
}

// cancelCalls cancels and joins the calls that will have no turn.
func (l *Run) cancelCalls() {
	for key, f := range l.ahead {
		if f.flight != nil {
			f.flight.callOff()
			<-f.flight.over
			delete(l.ahead, key)
		}
	}
}
