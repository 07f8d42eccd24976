package governor_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// A provider accepts four requests per second and does not announce that. The governor finds the limit: after 400
// objects it sends nearly at that rate, and only few requests were refused.
func Example_hiddenLimit() {
	const perSecond = 4.0
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	tokens, refilled := 1.0, now // the provider's token bucket
	respond := func() governor.Kind {
		tokens = min(1, tokens+perSecond*now.Sub(refilled).Seconds())
		refilled = now
		if tokens < 1 {
			return governor.Throttled
		}
		tokens--
		return governor.Success
	}

	g := governor.New("acme", func(c *governor.Config) { c.Ceiling = 10 * time.Millisecond })
	refused := 0
	for range 400 {
		call := g.Call()
		for again := true; again; {
			wait, err := call.Next(now)
			if err != nil {
				fmt.Println(err)
				return
			}
			if now = now.Add(wait); wait > 0 {
				continue // time has passed, so ask again
			}
			kind := respond()
			if kind == governor.Throttled {
				refused++
			}
			again, _ = call.Observe(now, governor.Outcome{Kind: kind, Sent: now})
		}
	}
	rate, _ := g.Rate()
	share := 1 / (perSecond * rate.Interval.Seconds())
	fmt.Println("at least 85 % of the limit:", share >= 0.85)
	fmt.Println("fewer than 10 refusals:", refused < 10)
	// Output:
	// at least 85 % of the limit: true
	// fewer than 10 refusals: true
}

// Two runs share one quota. They exchange updates and send in turns, so the provider sees one flow. A refusal of one
// run delays both.
func ExampleGovernor_SetShare() {
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	var runs [2]*governor.Governor
	for place := range runs {
		runs[place] = governor.New("acme", func(c *governor.Config) { c.Seed = uint64(place) })
		runs[place].SetShare(now, governor.Share{Runs: 2, Place: place})
	}
	exchange := func() {
		for from, sender := range runs {
			if update, changed := sender.PeerUpdate(now); changed {
				update.From = uint64(from + 1) // the transport sets it
				update.Share = governor.Share{Runs: 2, Place: from}
				runs[1-from].ApplyPeerUpdate(now, update)
			}
		}
	}
	exchange()

	call := runs[0].Call()
	for wait, err := call.Next(now); wait > 0 && err == nil; wait, err = call.Next(now) {
		now = now.Add(wait)
	}
	call.Observe(now, governor.Outcome{
		Kind: governor.Throttled, Sent: now, HasRetryAfter: true, RetryAfter: 30 * time.Second,
	})
	exchange()

	for place, run := range runs {
		left, byProvider := run.Quiet(now)
		fmt.Println("run", place, "pauses for", left.Round(time.Second), byProvider)
	}
	// Output:
	// run 0 pauses for 30s true
	// run 1 pauses for 30s true
}

// A Retry-After delays every request until exactly that instant. The retry waits for it, not for the sum of all delays.
func ExampleCall_Observe() {
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	g := governor.New("acme", func(c *governor.Config) { c.Discovery, c.Ceiling = time.Millisecond, time.Millisecond })
	call := g.Call()
	for wait, _ := call.Next(now); wait > 0; wait, _ = call.Next(now) {
		now = now.Add(wait)
	}
	again, _ := call.Observe(now, governor.Outcome{
		Kind: governor.Throttled, Sent: now, HasRetryAfter: true, RetryAfter: 7 * time.Second,
	})
	wait, err := call.Next(now)
	fmt.Println(again, wait, err)
	// Output: true 7s <nil>
}

// A wait longer than Config.MaxWait is not started: the request is denied, and a later run can send it.
func ExampleDeniedError() {
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	g := governor.New("acme", func(c *governor.Config) { c.Discovery, c.Ceiling = time.Millisecond, time.Millisecond })
	first := g.Call()
	for wait, _ := first.Next(now); wait > 0; wait, _ = first.Next(now) {
		now = now.Add(wait)
	}
	first.Observe(now, governor.Outcome{Kind: governor.Throttled, Sent: now, HasRetryAfter: true, RetryAfter: time.Hour})

	next := g.Call()
	_, err := next.Next(now)
	var denied *governor.DeniedError
	fmt.Println(errors.As(err, &denied), denied.In)
	// Output: true 1h0m0s
}

// An owner limits one run to three requests.
func ExampleRunBudget() {
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	budget := &governor.RunBudget{Requests: 3}
	sent := 0
	for budget.Exhausted(now) == "" {
		budget.Spend()
		sent++
	}
	fmt.Println(sent, budget.Exhausted(now))
	// Output: 3 max_requests
}
