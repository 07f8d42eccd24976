package leasemodel

import (
	"fmt"
	"iter"
)

// Kind is what happens in a step.
type Kind uint8

const (
	Tick Kind = iota
	Reclaim
	Rewind
	Peek
	Start
	ReadCursor
	Check
	Commit
	CommitRest
	Renew
	Finish
	Crash
)

var kindNames = [...]string{
	"time passes", "the scheduler reclaims the lease", "the owner rewinds", "reads the cursor before it has the lease",
	"takes the lease", "reads the cursor", "has its next slice ready to commit", "commits slice",
	"writes the records of slice",
	"renews its lease", "finishes its run", "dies",
}

// Step is one change of state.
type Step struct {
	Kind   Kind
	Worker int   // from 1; zero means the world around them
	Run    uint8 // that the worker has, or takes by this step
	Slice  uint8 // of a commit
	// Accepted reports whether the database applied a Commit, Renew or Finish.
	Accepted bool
	// Lost reports whether the answer fails to reach the worker.
	Lost bool
}

// Fault reports whether the step is a mishap, on which nothing may depend.
func (s Step) Fault() bool { return s.Kind == Crash || s.Lost }

func (s Step) String() string {
	text := kindNames[s.Kind]
	if s.Worker > 0 {
		text = fmt.Sprintf("worker %d %s", s.Worker, text)
	}
	if s.Slice > 0 {
		text += fmt.Sprintf(" %d", s.Slice)
	}
	if s.Run > 0 {
		text += fmt.Sprintf(" (run %d)", s.Run)
	}
	if s.Kind == Commit || s.Kind == Renew || s.Kind == Finish {
		if s.Accepted {
			text += ", accepted"
		} else {
			text += ", refused"
		}
	}
	if s.Lost {
		text += ", the answer is lost"
	}
	return text
}

// Next returns every step that is possible in a state, with the resulting state.
func (p Protocol) Next(s State) iter.Seq2[Step, State] {
	return func(yield func(Step, State) bool) {
		for _, take := range []func(State, func(Step, State) bool) bool{p.workers, p.world} {
			if !take(s, yield) {
				return
			}
		}
	}
}

// world yields the steps that no worker takes.
func (p Protocol) world(s State, yield func(Step, State) bool) bool {
	if next := ticked(s); next != s && !yield(Step{Kind: Tick}, next) {
		return false
	}
	if next, free := p.vacated(s); free && s.Lease.Run > 0 && !yield(Step{Kind: Reclaim}, next) {
		return false
	}
	if next, free := p.vacated(s); free && s.Cursor > 0 {
		next.Cursor--
		return yield(Step{Kind: Rewind}, next)
	}
	return true
}

func ticked(s State) State {
	s.Lease.Left -= min(s.Lease.Left, 1)
	for i := range s.Workers {
		s.Workers[i].Left -= min(s.Workers[i].Left, 1)
	}
	return s
}

// vacated is the state with the connection free, if it can be: the run of a
// lease that ran out becomes abandoned.
func (p Protocol) vacated(s State) (next State, free bool) {
	run := s.Lease.Run
	if run == 0 {
		return s, true
	}
	if s.Lease.Left > 0 || p.Flaw == NoTakeover {
		return s, false
	}
	s.Lease = Lease{Generation: s.Lease.Generation}
	if p.Flaw != ForgetsOldRun {
		s.Runs[run-1] = Abandoned
	}
	return s, true
}

func (p Protocol) workers(s State, yield func(Step, State) bool) bool {
	for i := range s.Workers {
		if !p.worker(s, i, yield) {
			return false
		}
	}
	return true
}
