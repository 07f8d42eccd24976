package leasemodel

// Invariant is what must hold in every state, or of every step.
type Invariant string

const (
	// OnlyTheHolderWrites: a commit is accepted only from the run that the lease
	// names, and its generation is the newest.
	OnlyTheHolderWrites Invariant = "only the holder of the newest lease writes"
	// CursorNeverGoesBack, except by the owner's own rewind.
	CursorNeverGoesBack Invariant = "the cursor never goes back"
	// CursorNeverAhead: every slice that the cursor passed is stored.
	CursorNeverAhead Invariant = "the cursor is never ahead of the stored records"
	// OneRun: a run is running exactly when the lease names it.
	OneRun Invariant = "exactly the run that the lease names is running"
	// RepeatsChangeNothing: a slice that is delivered again leaves what is stored.
	RepeatsChangeNothing Invariant = "a slice that is delivered again changes nothing"
	// NoLostLease: whatever happened, the connection can become free without
	// another mishap. Explore finds out, because it takes more than one step.
	NoLostLease Invariant = "the connection can always become free again"
)

// broken names the invariant that a step violates; empty when it violates none.
func broken(before State, step Step, after State) Invariant {
	switch {
	case step.Kind == Commit && step.Accepted && !holds(before, before.Workers[step.Worker-1]):
		return OnlyTheHolderWrites
	case after.Cursor < before.Cursor && step.Kind != Rewind:
		return CursorNeverGoesBack
	case !storedUpToCursor(after):
		return CursorNeverAhead
	case !oneRun(after):
		return OneRun
	case changedAgain(before, after):
		return RepeatsChangeNothing
	}
	return ""
}

func storedUpToCursor(s State) bool {
	for _, versions := range s.Versions[:s.Cursor] {
		if versions == 0 {
			return false
		}
	}
	return true
}

func oneRun(s State) bool {
	for i, status := range s.Runs {
		if (status == Running) != (int(s.Lease.Run) == i+1) {
			return false
		}
	}
	return true
}

// changedAgain holds when stored records were written: in this model the
// provider's content never changes.
func changedAgain(before, after State) bool {
	for i, versions := range before.Versions {
		if versions > 0 && after.Versions[i] != versions {
			return true
		}
	}
	return false
}
