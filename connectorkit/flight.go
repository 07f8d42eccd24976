package connectorkit

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"pdpp/governor"
	"pdpp/governor/governhttp"
)

// Where the author allows it, details are fetched ahead of their turn, by as many calls at
// once as the governor has lanes open: one, and so none ahead, until it shows that answering
// times and not the pace hold the run up. Each item then has its turn as if it had been
// fetched alone: order, slices, gaps and failures do not know the difference.

// flight is a call of the author's code that is under way, or over and waits for its turn.
type flight struct {
	over    chan struct{} // closed when the call has ended
	callOff context.CancelFunc
	records []Record
	err     error
	panics  any
}

var errNoReturn = errors.New("the call for a detail did not return")

// fly begins a call. landed is told that it is over.
func fly(ctx context.Context, call func(context.Context) ([]Record, error), landed chan<- struct{}) *flight {
	ctx, callOff := context.WithCancel(ctx)
	f := &flight{over: make(chan struct{}), callOff: callOff, err: errNoReturn}
	go func() {
		defer func() {
			if p := recover(); p != nil {
				f.panics = fmt.Sprintf("%v\n\n%s", p, debug.Stack())
			}
			callOff()
			close(f.over)
			select {
			case landed <- struct{}{}:
			default: // whoever waits is told already
			}
		}()
		f.records, f.err = call(ctx)
	}()
	return f
}

// landed reports whether the call is over.
func (f *flight) landed() bool {
	select {
	case <-f.over:
		return true
	default:
		return false
	}
}

// unsent reports whether a call that is over was held back by our own open circuit: its
// turn makes it again, when the circuit may have closed.
func (f *flight) unsent() bool {
	var s *governhttp.Stopped
	return errors.As(f.err, &s) && s.Reason == governor.CircuitOpen
}

// waitingPerLane bounds how many details are under way or wait for their turn, per lane: one
// that takes long does not keep the other lanes idle, and memory stays bounded.
const waitingPerLane = 2

// launch fetches the next of the coming items, as many as there are lanes. Behind one that
// failed nothing is launched: its turn decides whether more is asked for.
func (l *lane) launch(ctx context.Context) error {
	lanes := l.r.lanes()
	if lanes < 2 {
		return nil
	}
	waiting, underWay := 0, 0
	for _, f := range l.ahead {
		switch {
		case f.flight == nil:
			continue
		case !f.flight.landed():
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
	for _, item := range l.due(l.coming, most) {
		if err := l.attempted(ctx, item.Key); err != nil {
			return err
		}
		if err := l.r.out.flush(ctx); err != nil {
			return err
		}
		call := func(ctx context.Context) ([]Record, error) { return l.Fetch(ctx, item) }
		l.ahead[item.Key] = fetched{item: item, flight: fly(ctx, call, l.landed)}
	}
	return nil
}

// land waits for the call for an item and keeps the other lanes busy meanwhile. A panic of
// the call is this turn's.
func (l *lane) land(ctx context.Context, f fetched) (fetched, error) {
	for !f.flight.landed() {
		select {
		case <-f.flight.over:
		case <-l.landed:
			if err := l.launch(ctx); err != nil {
				return f, err
			}
		}
	}
	if f.flight.panics != nil {
		panic(f.flight.panics)
	}
	f.Fetched = Fetched{Key: f.item.Key, Records: f.flight.records, Err: f.flight.err}
	f.alone = f.flight.unsent()
	return f, nil
}

// ground waits for what is under way when the lane stops, so that it is known what came of
// it. Where the stop ends the run, the calls are called off, and those that did not succeed
// count as not made.
func (l *lane) ground(ends bool) {
	for _, f := range l.ahead {
		if f.flight != nil && ends {
			f.flight.callOff()
		}
	}
	for key, f := range l.ahead {
		if f.flight == nil {
			continue
		}
		if <-f.flight.over; f.flight.panics == nil && (f.flight.unsent() || ends && f.flight.err != nil) {
			l.ahead[key] = fetched{item: f.item, alone: true}
		}
	}
}

// abandon ends the calls whose turn does not come. None of them outlives this.
func (l *lane) abandon() {
	for key, f := range l.ahead {
		if f.flight != nil {
			f.flight.callOff()
			<-f.flight.over
			delete(l.ahead, key)
		}
	}
}

// lanes is how many requests the provider that is asked now may have in flight.
func (r *run) lanes() int {
	p := r.main()
	if p == nil {
		return 1
	}
	open, _ := p.governor.Lanes()
	return max(1, open)
}
