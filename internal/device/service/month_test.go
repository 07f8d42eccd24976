package service

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/health"
)

// laptop is a device through a month: nights, cafés with portals, trains without a network,
// a server that is upgraded, a first load that takes hours. Time passes in steps; a pass is
// made of moments at which the lid may close.
type laptop struct {
	dice *rand.Rand
	now  time.Time
	plan plan

	waiting, dead int64 // uploads
	working       time.Duration
	beaten        time.Time
	heard         *evidence.Heartbeat // the last that arrived
}

type surroundings struct{ open, online, portal, server bool }

func (s surroundings) reached() bool { return s.open && s.online && !s.portal && s.server }

// around is what the laptop finds at a moment.
func around(now time.Time) surroundings {
	hour, minute, day := now.Hour(), now.Minute(), now.Day()
	s := surroundings{open: hour >= 8 && hour < 23, online: true, server: true}
	if hour == 12 && minute < 25 || hour == 16 && minute < 5 || hour == 18 && minute >= 40 { // on the way, or a moment
		s.open = false
	}
	if hour == 9 || hour == 17 && minute < 50 { // the train
		s.online = false
	}
	if day%3 == 0 && hour == 14 && minute < 20 { // the café
		s.portal = true
	}
	if day%5 == 0 && hour == 20 && minute < 3 || day == 17 && hour == 11 { // upgrades, and one that went wrong
		s.server = false
	}
	return s
}

func (l *laptop) beat(status evidence.HeartbeatStatus) {
	waiting := l.waiting
	l.heard = &evidence.Heartbeat{At: l.now, Status: status, Pending: &waiting,
		Outbox: &evidence.OutboxCounts{Pending: waiting, DeadLetter: l.dead, Total: waiting + l.dead}}
	l.beaten = l.now
}

// rest is the status of a device that is not at work.
func (l *laptop) rest() evidence.HeartbeatStatus {
	switch {
	case l.dead > 0:
		return evidence.HeartbeatBlocked
	case l.waiting > 0:
		return evidence.HeartbeatRetrying
	}
	return evidence.HeartbeatHealthy
}

// step is what the service does every two seconds.
func (l *laptop) step(s surroundings) {
	if l.working > 0 {
		l.work(s)
		return
	}
	if l.dice.IntN(400) == 0 { // the user edits a file
		l.plan.change(l.now)
	}
	if l.plan.beatDue(l.now) && !l.plan.passed.IsZero() {
		if s.reached() {
			l.beat(l.rest())
		}
		l.plan.contact = l.now
	}
	if !l.plan.due(l.now) {
		return
	}
	l.plan.began(false)
	switch {
	case s.portal:
		l.plan.ended(l.now, PassResult{Stopped: true})
	case !s.reached():
		l.plan.ended(l.now, PassResult{Retry: true})
	default:
		l.working = time.Duration(2+l.dice.IntN(20)) * time.Second
		if l.heard == nil {
			l.working = 3 * time.Hour // everything, for the first time
		}
		l.beat(evidence.HeartbeatStarting)
		l.waiting = int64(l.dice.IntN(9))
	}
}

// work is a moment of a pass.
func (l *laptop) work(s surroundings) {
	l.working -= hotEvery
	switch {
	case !s.reached():
		l.working = 0
		l.plan.ended(l.now, PassResult{Retry: !s.portal, Stopped: s.portal})
	case l.working <= 0:
		l.waiting = 0
		l.beat(l.rest())
		l.plan.ended(l.now, PassResult{Stopped: l.dead > 0})
	case l.now.Sub(l.beaten) >= 5*time.Minute:
		l.beat(evidence.HeartbeatRetrying)
	}
}

// TestMonthOfALaptop evaluates the device's health every minute, as the server would. It expects no
// false alarm, every fault reported in time, and a heartbeat within a minute of every wake.
func TestMonthOfALaptop(t *testing.T) {
	l := &laptop{dice: rand.New(rand.NewPCG(1, 30)), now: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)}
	end := l.now.AddDate(0, 1, 0)
	var alarms, reported int
	var reachedSince, broken, woken time.Time
	asleep := false
	for ; l.now.Before(end); l.now = l.now.Add(hotEvery) {
		s := around(l.now)
		switch {
		case !s.open:
			asleep = true
		case asleep:
			asleep, woken = false, l.now
			l.plan.woke()
		}
		if !s.reached() {
			reachedSince = time.Time{}
		} else if reachedSince.IsZero() {
			reachedSince = l.now
		}
		// the server refuses an upload for good
		if l.now.Day() == 12 && l.now.Hour() == 15 && l.dead == 0 && broken.IsZero() {
			l.dead, broken = 1, l.now
			l.plan.change(l.now)
		}
		if l.dead > 0 && l.now.Sub(broken) > 5*time.Hour { // until the owner has run the command
			l.dead = 0
			l.plan.wanted = true
		}
		if s.open {
			l.step(s)
		}
		if !woken.IsZero() && reachedSince.Equal(woken) && l.now.Sub(woken) >= time.Minute {
			if l.heard.At.Before(woken) {
				t.Errorf("%s: nothing was heard since the wake", l.now)
			}
			woken = time.Time{}
		}
		if l.now.Second() != 0 || l.heard == nil {
			continue
		}
		device := &evidence.Device{Sources: []evidence.DeviceSource{{ID: "dsrc_1", DeviceStatus: evidence.StatusActive,
			Status: evidence.StatusActive, Heartbeat: l.heard}}}
		reading := health.ReadOutbox(device, l.now)
		switch {
		case reading.Axis != health.OutboxStalled:
			if l.dead > 0 && !reachedSince.IsZero() && l.now.Sub(reachedSince) > 20*time.Minute &&
				l.now.Sub(broken) > 20*time.Minute {
				t.Errorf("%s: an upload was put aside at %s and nobody is told", l.now, broken)
			}
		case reading.Cause == health.DeadLetterBacklog:
			reported++
			if l.dead == 0 && l.now.Sub(l.heard.At) < time.Minute {
				t.Errorf("%s: told of an upload that was put aside, and none was", l.now)
			}
		case reading.Cause != health.StalePending || l.waiting == 0 || !reachedSince.IsZero() &&
			l.now.Sub(reachedSince) > 20*time.Minute:
			alarms++
			t.Errorf("%s: %+v about a device that is well", l.now, reading)
		}
		if alarms > 3 {
			t.FailNow()
		}
	}
	if reported == 0 {
		t.Error("the fault was never told")
	}
	t.Attr("result", "a month of a laptop in virtual time: no false alarm, the planted fault told within 20 minutes, a "+
		"heartbeat within a minute of every wake")
}
