package governor_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// A caller asks when to send, sends, and reports the outcome. Time is a parameter, so the caller decides how to
// wait.
func Example() {
	g := governor.New("lanternmail", func(c *governor.Config) { c.Ceiling = 500 * time.Millisecond })
	now := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)

	// send makes one request with the outcome.
	send := func(answer governor.Outcome) {
		call := g.Call()
		for again := true; again; {
			wait, err := call.Next(now)
			switch {
			case err != nil:
				fmt.Println(err)
				return
			case wait > 0:
				now = now.Add(wait) // a program sleeps here and calls Next again
				continue
			}
			answer.Sent = now
			again, _ = call.Observe(now, answer)
			answer = governor.Outcome{Kind: governor.Success} // the retry succeeds
		}
	}
	for range 50 {
		send(governor.Outcome{Kind: governor.Success})
	}
	rate, _ := g.Rate()
	fmt.Println("as fast as allowed:", rate.Interval == rate.Ceiling)

	before := now
	send(governor.Outcome{Kind: governor.Throttled, HasRetryAfter: true, RetryAfter: 30 * time.Second})
	rate, _ = g.Rate()
	fmt.Println("waited as the provider asked:", now.Sub(before) >= 30*time.Second)
	fmt.Println("slower than before:", rate.Interval > rate.Ceiling)
	// Output:
	// as fast as allowed: true
	// waited as the provider asked: true
	// slower than before: true
}

// The learned state is stored as numbers and restored in the next run.
func ExampleRestoreLearned() {
	now := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	kept := governor.Learned{Interval: 400 * time.Millisecond, Recorded: now}.Fields()

	learned, fresh := governor.RestoreLearned(kept, now.Add(time.Hour))
	fmt.Println(learned.Interval, fresh)
	_, fresh = governor.RestoreLearned(kept, now.Add(7*time.Hour))
	fmt.Println(fresh)
	// Output:
	// 400ms true
	// false
}

// A program that stores the snapshot starts its next run at the pace that the provider is known to accept.
func ExampleGovernor_Snapshot() {
	now := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	first := governor.New("lanternmail")
	for range 20 {
		call := first.Call()
		for wait, _ := call.Next(now); wait > 0; wait, _ = call.Next(now) {
			now = now.Add(wait)
		}
		call.Observe(now, governor.Outcome{Kind: governor.Success, Sent: now})
	}
	learned, _ := first.Snapshot(now)
	file, err := json.Marshal(learned.Fields())
	if err != nil {
		fmt.Println(err)
		return
	}

	now = now.Add(time.Hour)
	var fields map[string]float64
	if err := json.Unmarshal(file, &fields); err != nil {
		fmt.Println(err)
		return
	}
	second := governor.New("lanternmail", func(c *governor.Config) {
		if learned, fresh := governor.RestoreLearned(fields, now); fresh {
			c.Learned = &learned
		}
	})
	rate, _ := second.Rate()
	fmt.Println("a cold start would wait a second, this one", rate.Interval)
	// Output: a cold start would wait a second, this one 250ms
}

// If responses take ten seconds, one request at a time is slow. The governor then opens a second lane. Call Lanes
// after each request. A refusal closes the lane again.
func ExampleGovernor_Lanes() {
	g := governor.New("lanternmail", func(c *governor.Config) { c.Lanes = 4 })
	now := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	send := func(answer governor.Kind) {
		call := g.Call()
		for wait, _ := call.Next(now); wait > 0; wait, _ = call.Next(now) {
			now = now.Add(wait)
		}
		sent := now
		now = now.Add(10 * time.Second)
		call.Observe(now, governor.Outcome{Kind: answer, Sent: sent})
	}
	tell := func(when string) {
		open, most := g.Lanes()
		fmt.Println(when, open, "of", most)
	}
	tell("at first")
	for range 8 {
		send(governor.Success)
	}
	tell("after eight slow answers")
	send(governor.Throttled)
	tell("after a refusal")
	// Output:
	// at first 1 of 4
	// after eight slow answers 2 of 4
	// after a refusal 1 of 4
}
