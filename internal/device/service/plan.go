package service

import (
	"math/rand/v2"
	"time"
)

// When passes and heartbeats happen.
const (
	quiet       = time.Second      // a change is followed by a pass when nothing has changed for so long,
	unrest      = 5 * quiet / 2    // or after so long while it goes on
	passEvery   = 2 * time.Second  // the least time between two passes of a source
	passShare   = 30               // passes take at most one part in so many of a processor while things go on changing,
	longestRest = time.Minute      // but never wait longer for it
	fullEvery   = time.Hour        // the most between two passes, changes or not
	beatEvery   = 15 * time.Minute // the most between two contacts with the server
	firstRetry  = 5 * time.Second
	askEvery    = time.Minute      // between two looks at the supply while history waits or is read
	lookAgain   = 15 * time.Minute // after a server that was not there or did not know the device, and the longest retry
	afterFailed = 10 * time.Minute // after a connector that failed
)

// PassResult is the outcome of a pass, from which the plan schedules the next one.
type PassResult struct {
	// Retry is set if uploads wait for a server that could not accept them. RetryAfter is the delay that
	// the server requested.
	Retry      bool
	RetryAfter time.Duration
	// Stopped is set if the server was unreachable or did not recognize this device.
	Stopped bool
	// Failed is set if collecting failed, regardless of the server.
	Failed bool
	// Wanted is set if the owner requested a pass.
	Wanted bool
	// Cost is the processor time that it took, on whatever machine and beside whatever else.
	Cost time.Duration
}

// plan is what one source does next. It has no clock of its own.
type plan struct {
	changedFirst time.Time // of the changes that no pass has seen; zero: none
	changedLast  time.Time
	passed       time.Time // the end of the last pass; zero: none yet
	cost         time.Duration
	contact      time.Time // with the server
	notBefore    time.Time // nothing but the owner's wish is acted upon before
	retries      int
	wanted       bool
	owed         bool      // the last pass left something undone
	behind       bool      // the last pass skipped history
	asked        time.Time // when the supply was last looked at
}

func (p *plan) change(now time.Time) {
	if p.changedFirst.IsZero() {
		p.changedFirst = now
	}
	p.changedLast = now
}

// due reports whether a pass is to begin.
func (p *plan) due(now time.Time) bool {
	if p.wanted {
		return true
	}
	if now.Before(p.notBefore) {
		return false
	}
	if p.owed {
		return true
	}
	if !p.changedFirst.IsZero() && (now.Sub(p.changedLast) >= quiet || now.Sub(p.changedFirst) >= unrest) {
		return now.Sub(p.passed) >= p.rest()
	}
	return now.Sub(p.passed) >= fullEvery
}

// mayCatchUp reports whether it is time to look if history that waited has to wait any longer.
func (p *plan) mayCatchUp(now time.Time) bool {
	return p.behind && now.Sub(p.asked) >= askEvery && !now.Before(p.notBefore)
}

// rest is how long changes wait after the last pass: a source that changes all the time,
// and is dear to look at, must not keep the computer busy.
func (p *plan) rest() time.Duration {
	return max(passEvery, min(longestRest, passShare*p.cost))
}

// look is how long after this moment files are looked at again: soon when a change waits for its
// pass, or when there was a pass just now, so that the next pass is not late by a whole turn.
func (p *plan) look(now time.Time) time.Duration {
	if p.changedFirst.IsZero() && now.Sub(p.passed) >= hotEvery {
		return hotEvery
	}
	return soon
}

// beatDue reports whether the server is to hear something without a pass.
func (p *plan) beatDue(now time.Time) bool { return now.Sub(p.contact) >= beatEvery }

// woke makes a heartbeat the first thing after a sleep, and lets nothing wait that waited
// for the network.
func (p *plan) woke() {
	p.contact, p.notBefore, p.retries = time.Time{}, time.Time{}, 0
}

// began is called before a pass: what changes from now on is for the next one.
func (p *plan) began(historyWaits bool) {
	p.behind = historyWaits
	p.changedFirst, p.changedLast, p.wanted = time.Time{}, time.Time{}, false
}

// ended takes a pass's result.
func (p *plan) ended(now time.Time, r PassResult) {
	p.passed, p.contact, p.cost, p.wanted = now, now, r.Cost, p.wanted || r.Wanted
	p.owed, p.notBefore = r.Retry || r.Stopped || r.Failed, time.Time{}
	switch {
	case r.Stopped:
		p.notBefore = now.Add(lookAgain)
	case r.Retry && r.RetryAfter > 0:
		p.notBefore = now.Add(r.RetryAfter)
	case r.Retry:
		p.notBefore = now.Add(firstRetry + rand.N(min(firstRetry<<min(p.retries, 8), lookAgain)))
		p.retries++
		return
	case r.Failed:
		p.notBefore = now.Add(afterFailed)
	}
	p.retries = 0
}
