package runstate

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/protocol"
)

const (
	// progressEvery is the minimum time between two PROGRESS messages of a run.
	progressEvery = 250 * time.Millisecond
	// announcedWait is the length of a wait that a run announces, so that it does not look stuck.
	announcedWait = 5 * time.Second
)

// progressThrottle throttles PROGRESS by the injected clock.
type progressThrottle struct{ last time.Time }

// ReportProgress sends the progress of a stream. The last report of a stream is always sent.
func (r *Run) ReportProgress(ctx context.Context, stream string, count, total int, last bool) error {
	if err := r.ReportTransitions(ctx); err != nil {
		return err
	}
	now := r.Now()
	if !last && !r.progress.last.IsZero() && now.Sub(r.progress.last) < progressEvery {
		return nil
	}
	r.progress.last = now
	m := &protocol.Progress{Stream: stream, Message: fmt.Sprintf("%s: %d", stream, count), CollectionRate: r.currentRate()}
	done := float64(count)
	m.Count = &done
	if total > 0 {
		all := float64(max(total, count))
		m.Total = &all
		m.Message = fmt.Sprintf("%s: %d of %d", stream, count, max(total, count))
	}
	return r.Out.Send(ctx, m)
}

// ReportPace reports the final state of the pace: circuit transitions, the learned state for the next run, and the
// rate.
func (r *Run) ReportPace(ctx context.Context, failed bool) error {
	if err := r.ReportTransitions(ctx); err != nil {
		return err
	}
	if err := r.sendFinalPace(ctx, failed); err != nil {
		return err
	}
	if err := r.sendLearned(ctx); err != nil {
		return err
	}
	rate := r.currentRate()
	if rate == nil {
		return nil
	}
	text := fmt.Sprintf("pace at the end: %.0f requests per minute", rate.EffectiveRatePerMin)
	return r.Out.Send(ctx, &protocol.Progress{Message: text, CollectionRate: rate})
}

// currentRate returns the current rate of the run's main provider, or nil if nothing is paced, which is not a rate of
// zero (RT-27.2).
func (r *Run) currentRate() *protocol.CollectionRate {
	p := r.MainProvider()
	if p == nil {
		return nil
	}
	live, paced := p.Governor.Rate()
	if !paced {
		return nil
	}
	out := &protocol.CollectionRate{
		Object:            "collection_rate",
		CurrentIntervalMS: Milliseconds(live.Interval), CeilingIntervalMS: Milliseconds(live.Ceiling),
		EffectiveRatePerMin: RatePerMinute(live.Interval), CeilingRatePerMin: RatePerMinute(live.Ceiling),
	}
	if b := live.Backoff; b != nil {
		out.LastBackoff = &protocol.RateBackoff{AtIntervalMS: Milliseconds(b.Interval), Reason: "throttle"}
		if b.HasRetryAfter {
			out.LastBackoff.Reason = "retry_after"
		}
	}
	return out
}

// Milliseconds returns a duration with three decimals.
func Milliseconds(d time.Duration) float64 {
	return math.Round(float64(d)/float64(time.Microsecond)) / 1000
}

// RatePerMinute returns how many intervals fit into a minute.
func RatePerMinute(interval time.Duration) float64 {
	return math.Round(float64(time.Minute) / float64(max(interval, time.Microsecond)))
}

// ReportTransitions reports every transition of a circuit since the last call, one message each. They contain states
// and counters, no request data (PB-06).
func (r *Run) ReportTransitions(ctx context.Context) error {
	for _, p := range r.Providers {
		for _, t := range p.Governor.Transitions() {
			err := r.Out.Send(ctx, &protocol.Progress{Message: circuitMessages[t.To], ProviderBudget: circuitMessage(t)})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

var (
	circuitNames = map[governor.CircuitState]protocol.CircuitState{
		governor.StateClosed: "closed", governor.StateOpen: "open", governor.StateHalfOpen: "half_open",
	}
	circuitMessages = map[governor.CircuitState]string{
		governor.StateClosed:   "the provider answers again",
		governor.StateOpen:     "requests kept failing: pausing them",
		governor.StateHalfOpen: "trying the provider again",
	}
	circuitReasons = map[governor.Trigger]protocol.CircuitReason{
		governor.TriggerFailure: "provider_failure", governor.TriggerThrottle: "provider_throttle",
		governor.TriggerReset: "reset_timeout", governor.TriggerSuccess: "success",
	}
	circuitTriggers = map[governor.Trigger]protocol.CircuitTrigger{
		governor.TriggerFailure: "provider_failure", governor.TriggerThrottle: "provider_throttle",
		governor.TriggerReset: "before_request", governor.TriggerSuccess: "success",
	}
)

func circuitMessage(t governor.Transition) *protocol.ProviderBudget {
	tokens := jsontext.Value(`"unbounded"`)
	if t.Tokens >= 0 {
		tokens = EncodeBookmark(t.Tokens)
	}
	return &protocol.ProviderBudget{
		Object: "provider_budget_circuit_transition",
		Circuit: protocol.CircuitChange{
			Previous: circuitNames[t.From], State: circuitNames[t.To],
			Reason: circuitReasons[t.Trigger], Trigger: circuitTriggers[t.Trigger],
		},
		ElapsedMS: Milliseconds(t.Elapsed), RequestCount: float64(t.Requests), RetryTokens: tokens,
	}
}

// announceWait announces a long wait before it begins. It can neither fail nor delay the request.
func (r *Run) announceWait(ctx context.Context, w governhttp.Wait) {
	if w.For < announcedWait {
		return
	}
	why := " before trying again"
	switch {
	case w.ByProvider:
		why = ", as the provider asked"
	case w.Source == governhttp.Preflight:
		why = " to keep to the pace"
	}
	text := fmt.Sprintf("waiting %.0f s%s", w.For.Seconds(), why)
	r.Out.OfferMessage(ctx, &protocol.Progress{Message: text, CollectionRate: r.currentRate()})
}

// ReportUnreached reports that a host is tried again. It can neither fail nor delay the request.
func (r *Run) ReportUnreached(ctx context.Context, host string, attempt, of int) {
	r.Out.OfferMessage(ctx, &protocol.Progress{Message: fmt.Sprintf("trying to reach %s, attempt %d of %d", host, attempt,
		of)})
}

// reportQuiet reports at once how long a provider must not be used, so that no later run uses it earlier, even if this
// one is killed while it waits.
func (r *Run) reportQuiet(ctx context.Context, q governhttp.Quiet) {
	r.shared.wakeSender(q.Provider)
	reason, text := protocol.WaitSearched, "the provider refuses: leaving it alone for %s"
	if q.ByProvider {
		reason, text = protocol.WaitRetryAfter, "the provider asks to be left alone for %s"
	}
	m := &protocol.Progress{
		Message: fmt.Sprintf(text, q.For.Round(time.Second/10)), CollectionRate: r.currentRate(),
		ProviderWait: &protocol.ProviderWait{Sender: q.Provider, WaitMS: Milliseconds(q.For), Reason: reason},
	}
	if r.Out.Send(ctx, m) == nil {
		_ = r.Out.Flush(ctx) // a broken output ends the run anyway
	}
}
