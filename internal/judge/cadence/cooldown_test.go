package cadence

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/protocol"
)

// pressed returns a connection with a 15-minute schedule. Its run just ended and left gaps of source pressure.
func pressed(reason protocol.Reason, attempts int64, floor *time.Time) *evidence.Evidence {
	e := ready()
	e.Schedule.IntervalSeconds = 900
	e.LastRun.StartedAt, e.LastRun.EndedAt, e.LastSuccessAt = *at(-time.Minute), noon, at(0)
	gaps(evidence.GapGroup{Stream: "photos", Reason: reason, Count: 3, MaxAttempts: attempts, NotBefore: floor})(e)
	return e
}

func TestCooldownGrowsWithAttempts(t *testing.T) {
	for attempts, want := range map[int64]time.Duration{
		0: 15 * time.Minute, 1: 30 * time.Minute, 2: time.Hour, 4: 4 * time.Hour, 5: 6 * time.Hour, 6: 6 * time.Hour,
		60: 6 * time.Hour,
	} {
		for _, reason := range protocol.SourcePressureReasons {
			d := Decide(pressed(reason, attempts, nil), noon)
			if d.Due || d.Why != SourcePressure || !d.At.Equal(noon.Add(want)) {
				t.Errorf("%s, %d attempts: %+v, want after %v", reason, attempts, d, want)
			}
		}
	}
	// The growth itself has an end, whatever the base.
	e := pressed(protocol.ReasonRateLimited, 60, nil)
	e.Schedule.IntervalSeconds = 60
	if d := Decide(e, noon); !d.At.Equal(noon.Add(64 * time.Minute)) {
		t.Errorf("every minute: %v", d.At)
	}
}

// Of several streams the one that is worst off decides, in whatever order they come.
func TestCooldownOfSeveralStreams(t *testing.T) {
	one := evidence.GapGroup{Stream: "photos", Reason: protocol.ReasonRateLimited, Count: 1, MaxAttempts: 2,
		NotBefore: at(time.Minute)}
	other := evidence.GapGroup{Stream: "albums", Reason: protocol.ReasonUpstreamPressure, Count: 1, MaxAttempts: 1,
		NotBefore: at(time.Second)}
	e := pressed(protocol.ReasonRateLimited, 0, nil)
	for _, groups := range [][]evidence.GapGroup{{one, other}, {other, one}} {
		e.Gaps.Groups = groups
		if d := Decide(e, noon); !d.At.Equal(*at(time.Hour)) {
			t.Errorf("%v first: %v", groups[0].Stream, d.At)
		}
	}
	one.NotBefore = at(2 * time.Hour)
	for _, groups := range [][]evidence.GapGroup{{one, other}, {other, one}} {
		e.Gaps.Groups = groups
		if d := Decide(e, noon); !d.At.Equal(*at(2 * time.Hour)) {
			t.Errorf("%v first, with a floor: %v", groups[0].Stream, d.At)
		}
	}
}

// The source's own word counts when it is later, however late it is.
func TestCooldownFloor(t *testing.T) {
	t.Attr("spec", "CH-04")
	for floor, want := range map[time.Duration]time.Duration{
		-time.Hour: 30 * time.Minute, time.Minute: 30 * time.Minute, 3 * time.Hour: 3 * time.Hour,
		40 * time.Hour: 40 * time.Hour,
	} {
		if d := Decide(pressed(protocol.ReasonRateLimited, 1, at(floor)), noon); !d.At.Equal(noon.Add(want)) {
			t.Errorf("floor in %v: %v, want after %v", floor, d.At, want)
		}
	}
}

func TestCooldownEnds(t *testing.T) {
	e := pressed(protocol.ReasonRateLimited, 60, nil)
	for _, floor := range []time.Duration{0, 40 * time.Hour} {
		e.Gaps.Groups[0].NotBefore = at(floor)
		end := max(floor, longestCooldown)
		for after, due := range map[time.Duration]bool{end - 1: false, end: true} {
			if d := Decide(e, noon.Add(after)); d.Due != due || d.RecoveryOnly {
				t.Errorf("after %v: %+v", after, d)
			}
		}
	}
	e.Gaps.Groups[0].Count = 0
	if d := Decide(e, noon); d.Why != NotYet {
		t.Errorf("without a gap: %+v", d)
	}
}

// A stop that the owner or a budget chose never makes the source rest.
func TestOnlyPressureArmsTheCooldown(t *testing.T) {
	t.Attr("spec", "RT-17.1")
	t.Attr("spec", "RT-24.1")
	quiet := append([]protocol.Reason{"", "wasps", protocol.ReasonRunCapDeferred, protocol.ReasonRetryExhausted},
		protocol.BudgetDeferReasons...)
	for _, reason := range append(quiet, protocol.ResumableReasons...) {
		e := pressed(reason, 60, at(40*time.Hour))
		if d := Decide(e, noon); d.Why != NotYet || !d.At.Equal(*at(14 * time.Minute)) {
			t.Errorf("%q: %+v", reason, d)
		}
		if d := Decide(e, *at(14 * time.Minute)); !d.Due || d.RecoveryOnly {
			t.Errorf("%q, in its turn: %+v", reason, d)
		}
	}
	for _, reason := range protocol.SourcePressureReasons {
		if d := Decide(pressed(reason, 1, nil), *at(14 * time.Minute)); d.Due || d.Why != SourcePressure {
			t.Errorf("%q, in its turn: %+v", reason, d)
		}
	}
}

// While the source rests, what is missing for another cause is retried, in its turn.
func TestRecoveryDuringCooldown(t *testing.T) {
	for name, c := range map[string]struct {
		now     time.Duration
		other   evidence.GapGroup
		recover bool
	}{
		"in its turn":     {14 * time.Minute, evidence.GapGroup{Reason: protocol.ReasonRetryExhausted, Count: 1}, true},
		"before its turn": {13 * time.Minute, evidence.GapGroup{Reason: protocol.ReasonRetryExhausted, Count: 1}, false},
		"none left":       {14 * time.Minute, evidence.GapGroup{Reason: protocol.ReasonRetryExhausted}, false},
		"more pressure":   {14 * time.Minute, evidence.GapGroup{Reason: protocol.ReasonUpstreamPressure, Count: 1}, false},
		"not to be tried": {14 * time.Minute, evidence.GapGroup{Reason: protocol.ReasonRetryExhausted, Count: 1,
			NotBefore: at(time.Hour), Earliest: at(time.Hour)}, false},
		"to be tried now": {14 * time.Minute, evidence.GapGroup{Reason: protocol.ReasonRetryExhausted, Count: 1,
			NotBefore: at(14 * time.Minute), Earliest: at(14 * time.Minute)}, true},
		"one of them now": {14 * time.Minute, evidence.GapGroup{Reason: protocol.ReasonRetryExhausted, Count: 2,
			NotBefore: at(time.Hour)}, true},
		"one at its time": {20 * time.Minute, evidence.GapGroup{Reason: protocol.ReasonRetryExhausted, Count: 2,
			NotBefore: at(time.Hour), Earliest: at(20 * time.Minute)}, true},
		"unknown is retry": {14 * time.Minute, evidence.GapGroup{Reason: "wasps", Count: 1}, true},
	} {
		e := pressed(protocol.ReasonRateLimited, 1, nil)
		e.Gaps.Groups = append(e.Gaps.Groups, c.other)
		d := Decide(e, *at(c.now))
		if d.Due != c.recover || d.RecoveryOnly != c.recover || !c.recover && d.Why != SourcePressure {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// Runs that only recover do not keep the source's rest from ending.
func TestRecoveryDoesNotProlongTheCooldown(t *testing.T) {
	e := pressed(protocol.ReasonRateLimited, 2, nil)
	e.Gaps.Groups = append(e.Gaps.Groups, evidence.GapGroup{Reason: protocol.ReasonRetryExhausted, Count: 9})
	e.Streams = []evidence.Stream{{Name: "albums"}, {Name: "photos", Fact: &evidence.Fact{At: noon}},
		{Name: "trees", Fact: &evidence.Fact{At: *at(-9 * time.Hour)}}}
	for i := range 3 {
		start := noon.Add(time.Duration(i+1) * 15 * time.Minute)
		if d := Decide(e, start); !d.RecoveryOnly {
			t.Fatalf("recovery %d: %+v", i+1, d)
		}
		e.LastRun = &evidence.Run{Status: evidence.RunSucceeded, RecoveryOnly: true, StartedAt: start,
			EndedAt: start.Add(time.Minute)}
	}
	if d := Decide(e, *at(time.Hour)); !d.Due || d.RecoveryOnly {
		t.Errorf("after an hour: %+v", d)
	}
	// Without a measured stream the recovery's own end is all there is.
	e.Streams, e.Gaps.Groups = nil, e.Gaps.Groups[:1]
	if d := Decide(e, *at(50 * time.Minute)); d.Why != SourcePressure || !d.At.Equal(*at(106 * time.Minute)) {
		t.Errorf("nothing measured: %+v", d)
	}
}

// While the source rests, the next attempt is when the first gap of another kind may be
// retried, be it in the turn or after it; without one it is the end of the rest.
func TestNextAttemptWhileTheSourceRests(t *testing.T) {
	e := ready()
	e.LastRun.StartedAt, e.LastRun.EndedAt = *at(-30 * time.Minute), *at(-10 * time.Minute)
	pressed := evidence.GapGroup{Stream: "trees", Reason: protocol.ReasonRateLimited, Count: 1}
	other := func(earliest *time.Time) evidence.GapGroup {
		return evidence.GapGroup{Stream: "trees", Reason: protocol.ReasonRetryExhausted, Count: 2,
			NotBefore: at(40 * time.Hour), Earliest: earliest}
	}
	for name, c := range map[string]struct {
		gaps []evidence.GapGroup
		want time.Duration
	}{
		"pressure alone":      {[]evidence.GapGroup{pressed}, 50 * time.Minute},
		"one at once":         {[]evidence.GapGroup{pressed, other(nil)}, 30 * time.Minute},
		"one before the turn": {[]evidence.GapGroup{pressed, other(at(20 * time.Minute))}, 30 * time.Minute},
		"one after the turn":  {[]evidence.GapGroup{pressed, other(at(40 * time.Minute))}, 40 * time.Minute},
		"the first after it": {[]evidence.GapGroup{other(at(45 * time.Minute)), pressed, other(at(40 * time.Minute))},
			40 * time.Minute},
		"none before the rest is": {[]evidence.GapGroup{pressed, other(at(time.Hour))}, 50 * time.Minute},
	} {
		e.Gaps = &evidence.Gaps{Groups: c.gaps}
		d := Decide(e, noon)
		if d.Why != SourcePressure || !d.At.Equal(noon.Add(c.want)) {
			t.Errorf("%s: %+v, want it after %s", name, d, c.want)
		}
		if then := Decide(e, *d.At); !then.Due {
			t.Errorf("%s, then: %+v", name, then)
		}
	}
}
