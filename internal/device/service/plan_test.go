package service

import (
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestPlan goes through an afternoon, second by second where it matters.
func TestPlan(t *testing.T) {
	at := func(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }
	p := plan{}
	due := func(seconds int, want bool) {
		t.Helper()
		if got := p.due(at(seconds)); got != want {
			t.Errorf("at %d s a pass is due: %t", seconds, got)
		}
	}
	pass := func(seconds int, r PassResult) {
		p.began(false)
		p.ended(at(seconds), r)
	}
	due(0, true) // the first one
	pass(0, PassResult{})
	due(1, false)
	p.change(at(10))
	due(10, false)
	due(11, true) // a second of quiet
	pass(11, PassResult{})
	p.change(at(12))
	if p.look(at(60)) != soon {
		t.Error("a change that waits is not looked after")
	}
	due(12, false) // not so soon after the last
	due(13, true)
	pass(13, PassResult{})
	if p.look(at(14)) != soon {
		t.Error("what goes on changing after a pass is seen late")
	}
	if p.look(at(15)) != hotEvery {
		t.Error("nothing waits, and files are looked at too often")
	}
	for s := 31; s < 34; s++ { // it goes on growing
		p.change(at(s))
		due(s, false)
	}
	p.change(at(34))
	due(34, true)
	pass(34, PassResult{})
	due(34+3599, false)
	due(34+3600, true) // the hourly one

	// History that waited is asked for again, once a minute.
	p.began(true)
	p.ended(at(3700), PassResult{})
	p.asked = at(3700)
	if p.mayCatchUp(at(3759)) || !p.mayCatchUp(at(3760)) {
		t.Error("history that waits is forgotten, or asked for too often")
	}
	p.began(false)
	p.ended(at(3760), PassResult{})
	if p.mayCatchUp(at(3800)) {
		t.Error("history that was read waits on")
	}

	// Passes that are dear are the rarer for it, within a bound; how long one waited is no cost.
	for _, tt := range []struct{ milliseconds, rests int }{{0, 2}, {60, 2}, {100, 3}, {1000, 30}, {600_000, 60}} {
		p.began(false)
		p.ended(at(3800), PassResult{Cost: time.Duration(tt.milliseconds) * time.Millisecond})
		p.change(at(3800))
		due(3800+tt.rests-1, false)
		due(3800+tt.rests, true)
	}

	// A server that is busy, gone, or does not know the device.
	pass(4000, PassResult{Retry: true, RetryAfter: 7 * time.Second})
	due(4006, false)
	due(4007, true)
	pass(4007, PassResult{Stopped: true})
	p.change(at(4100))
	due(4007+899, false)
	due(4007+900, true)
	for n := range 20 {
		pass(5000, PassResult{Retry: true})
		wait := p.notBefore.Sub(at(5000))
		if wait < firstRetry || wait > firstRetry+min(firstRetry<<min(n, 8), lookAgain) {
			t.Errorf("retry %d after %s", n, wait)
		}
	}
	p.woke()
	due(5001, true)
	if !p.beatDue(at(5001)) {
		t.Error("no heartbeat after a sleep")
	}
	pass(5001, PassResult{Failed: true})
	due(5002, false)
	due(5001+600, true)

	// The owner does not wait.
	pass(6000, PassResult{Stopped: true, Wanted: true})
	due(6001, true)
	pass(6001, PassResult{})
	if p.beatDue(at(6001+899)) || !p.beatDue(at(6001+900)) {
		t.Error("the heartbeat of an idle device")
	}
}

func TestPower(t *testing.T) {
	for _, step := range []struct {
		p   Power
		low bool
	}{{Power{}, false}, {Power{OnBattery: true, Percent: 20}, false}, {Power{OnBattery: true, Percent: 19}, true},
		{Power{Metered: true}, true}} {
		if step.p.Low() != step.low {
			t.Errorf("%+v is low: %t", step.p, step.p.Low())
		}
	}
}
