package leasemodel

import (
	"fmt"
	"strconv"
	"testing"
)

func TestOursHasNoViolation(t *testing.T) {
	r := Explore(Ours)
	t.Attr("result", fmt.Sprintf("%d states, %d steps", r.States, r.Steps))
	t.Log(r)
	if r.Broken != "" {
		t.Error("the protocol of the store violates an invariant")
	}
}

// TestEveryFlawIsFound departs from the protocol in one point at a time. The
// lengths are those of a shortest way: a longer one means that the explorer no
// longer goes by distance, a shorter one that a step does too much at once.
func TestEveryFlawIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		flaw  Flaw
		want  Invariant
		steps int
	}{
		"trust until the end of the run":   {NoFence, OnlyTheHolderWrites, 6},
		"expiry by the worker's own clock": {OwnClock, OnlyTheHolderWrites, 6},
		"generation compared beforehand":   {CheckedBefore, OnlyTheHolderWrites, 6},
		"generation compared, run not":     {GenerationAlone, OnlyTheHolderWrites, 6},
		"cursor read before the lease":     {CursorReadFirst, CursorNeverGoesBack, 11},
		"cursor before records":            {SplitCommit, CursorNeverAhead, 4},
		"records without identity":         {BlindInsert, RepeatsChangeNothing, 5},
		"old run left running":             {ForgetsOldRun, OneRun, 3},
		"no takeover":                      {NoTakeover, NoLostLease, 2},
	} {
		t.Run(name, func(t *testing.T) {
			r := Explore(Protocol{Flaw: c.flaw})
			t.Attr("steps", strconv.Itoa(len(r.Trace)))
			t.Log(r)
			if r.Broken != c.want || len(r.Trace) != c.steps {
				t.Errorf("found %q in %d steps, want %q in %d", r.Broken, len(r.Trace), c.want, c.steps)
			}
		})
	}
}

// TestNothingIsLeftOut makes sure that the silence about the protocol covers
// every kind of step, with every answer.
func TestNothingIsLeftOut(t *testing.T) {
	type sort struct {
		kind           Kind
		accepted, lost bool
	}
	want := map[sort]bool{
		{Tick, false, false}: true, {Reclaim, false, false}: true, {Rewind, false, false}: true,
		{Start, true, false}: true, {ReadCursor, false, false}: true, {Check, false, false}: true,
		{Crash, false, false}: true,
		{Commit, true, false}: true, {Commit, false, false}: true, {Commit, true, true}: true, {Commit, false, true}: true,
		{Renew, true, false}: true, {Renew, false, false}: true, {Finish, true, false}: true, {Finish, false, false}: true,
	}
	seen := map[sort]bool{}
	reached := map[State]bool{{}: true}
	for queue := []State{{}}; len(queue) > 0 && len(seen) < len(want); queue = queue[1:] {
		for step, next := range Ours.Next(queue[0]) {
			s := sort{step.Kind, step.Accepted, step.Lost}
			if !want[s] {
				t.Fatalf("unexpected step: %v", step)
			}
			seen[s] = true
			if !reached[next] {
				reached[next] = true
				queue = append(queue, next)
			}
		}
	}
	for s := range want {
		if !seen[s] {
			t.Errorf("never happens: %v", Step{Kind: s.kind, Accepted: s.accepted, Lost: s.lost})
		}
	}
}
