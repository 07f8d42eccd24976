package leasemodel

// becomeFunc hands over a step of a worker: the state as the step left the
// database, and the worker as it left the worker.
type becomeFunc func(Step, State, Worker) bool

// worker yields the steps of one worker.
func (p Protocol) worker(s State, i int, yield func(Step, State) bool) bool {
	w := s.Workers[i]
	become := func(step Step, s State, next Worker) bool {
		step.Worker, step.Run = i+1, max(w.Run, next.Run)
		s.Workers[i] = next
		return yield(step, s)
	}
	if w.Phase != Idle && !become(Step{Kind: Crash}, s, Worker{}) {
		return false
	}
	switch w.Phase {
	case Idle:
		if p.Flaw == CursorReadFirst {
			return become(Step{Kind: Peek}, s, Worker{Phase: Peeked, At: s.Cursor})
		}
		return p.start(s, Holding, w, become)
	case Peeked:
		return p.start(s, Working, w, become)
	case Holding:
		next := w
		next.Phase, next.At = Working, s.Cursor
		return become(Step{Kind: ReadCursor}, s, next) && p.renew(s, w, become)
	}
	return p.renew(s, w, become) && p.work(s, w, become)
}

// start takes the lease, if it is free or ran out.
func (p Protocol) start(s State, then Phase, w Worker, become becomeFunc) bool {
	s, free := p.vacated(s)
	if !free || s.Started == Runs {
		return true
	}
	s.Started++
	s.Runs[s.Started-1] = Running
	s.Lease = Lease{Run: s.Started, Generation: s.Lease.Generation + 1, Left: TTL}
	w.Phase, w.Run, w.Generation = then, s.Started, s.Lease.Generation
	if p.Flaw == OwnClock {
		w.Left = TTL
	}
	return become(Step{Kind: Start, Accepted: true}, s, w)
}

// renew is fenced under every protocol: the flaws are those of commits.
func (p Protocol) renew(s State, w Worker, become becomeFunc) bool {
	if !holds(s, w) {
		return become(Step{Kind: Renew}, s, Worker{}) // it learns that it lost, and ends its child
	}
	s.Lease.Left = TTL
	if p.Flaw == OwnClock {
		w.Left = TTL
	}
	return become(Step{Kind: Renew, Accepted: true}, s, w)
}

// work is what a worker does with its lease.
func (p Protocol) work(s State, w Worker, become becomeFunc) bool {
	switch w.Phase {
	case Working:
		if w.At < Slices && p.passes(s, w) {
			next := w
			next.Phase = Checked
			if !become(Step{Kind: Check}, s, next) {
				return false
			}
		}
		return finish(s, w, become)
	case Checked:
		return p.commit(s, w, become)
	case Half:
		return p.commitRest(s, w, become)
	default: // Doubt: it delivers the slice again, or ends the run
		return p.commit(s, w, become) && finish(s, w, become)
	}
}

// holds reports whether the store accepts the worker's lease. An expired lease is still held until
// another run takes it.
func holds(s State, w Worker) bool {
	return s.Lease.Run == w.Run && s.Lease.Generation == w.Generation
}

// passes is what a worker looks at before it prepares a commit.
func (p Protocol) passes(s State, w Worker) bool {
	switch p.Flaw {
	case OwnClock:
		return w.Left > 0
	case CheckedBefore:
		return holds(s, w)
	default:
		return true
	}
}

// admits is what the committing transaction looks at.
func (p Protocol) admits(s State, w Worker) bool {
	switch p.Flaw {
	case NoFence, OwnClock, CheckedBefore:
		return true
	case GenerationAlone:
		return s.Lease.Generation == w.Generation
	default:
		return holds(s, w)
	}
}

// commit delivers the slice after those that the worker knows to be done. The
// database may restart during it: then it happened whole or not at all, and the
// worker does not know which.
func (p Protocol) commit(s State, w Worker, become becomeFunc) bool {
	step := Step{Kind: Commit, Slice: w.At + 1}
	lost := step
	lost.Lost = true
	doubt := w
	doubt.Phase = Doubt
	if !p.admits(s, w) {
		return become(step, s, Worker{}) && become(lost, s, doubt)
	}
	if !become(lost, s, doubt) { // not applied
		return false
	}
	step.Accepted = true
	s.Cursor = w.At + 1
	if p.Flaw == SplitCommit {
		w.Phase = Half
		return become(step, s, w)
	}
	s = p.stored(s, w.At)
	w.Phase, w.At = Working, w.At+1
	lost.Accepted = true
	return become(step, s, w) && become(lost, s, doubt)
}

func (p Protocol) commitRest(s State, w Worker, become becomeFunc) bool {
	step := Step{Kind: CommitRest, Slice: w.At + 1, Accepted: true}
	s = p.stored(s, w.At)
	w.Phase, w.At = Working, w.At+1
	return become(step, s, w)
}

// stored writes the records of a slice. Content that is stored already stays as it is.
func (p Protocol) stored(s State, slice uint8) State {
	if s.Versions[slice] == 0 || p.Flaw == BlindInsert {
		s.Versions[slice] = min(s.Versions[slice]+1, 2) // more than one is all that matters
	}
	return s
}

// finish ends the run and frees the connection, if the worker still holds it.
func finish(s State, w Worker, become becomeFunc) bool {
	if !holds(s, w) {
		return become(Step{Kind: Finish}, s, Worker{})
	}
	s.Runs[w.Run-1] = Ended
	s.Lease = Lease{Generation: s.Lease.Generation}
	return become(Step{Kind: Finish, Accepted: true}, s, Worker{})
}
