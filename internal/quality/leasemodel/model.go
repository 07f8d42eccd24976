// Package leasemodel is a small model of the protocol by which runs lease a connection, commit
// slices and release the connection. Its explorer visits every state that the model can reach.
//
// The model has one connection, a few workers and a database. A step of a worker is one
// transaction of the store, or one action of the worker between two transactions. Workers take
// steps in any order and may stop at any time. A worker that is paused between its check and its
// commit therefore needs no step: its next step just comes late. Meanwhile time passes, processes
// die, answers of the database get lost, the scheduler reclaims expired leases, and the owner
// rewinds.
//
// Two kinds of lost answers need no step either, because they equal other sequences. A StartRun
// with a lost answer is a start followed by a crash. A FinishRun with a lost answer is a finish or
// a crash.
//
// Ours is the protocol as internal/storage/store and internal/collect/launch implement it. A Flaw
// changes it in one point. The tests show that the explorer finds each flaw, so that finding none
// in Ours is meaningful.
package leasemodel

// Bounds of the model: enough for a takeover of a takeover, with one more run
// after it, and for a cursor that goes back by more than a repetition.
const (
	Workers = 3
	Runs    = 4 // that are ever started
	Slices  = 2 // that the provider has
	TTL     = 1 // ticks until a lease that is not renewed runs out
)

// State is everything that steps depend on.
type State struct {
	Lease   Lease
	Started uint8 // how many runs were ever started; run n is Runs[n-1]
	Runs    [Runs]Status
	// Versions counts the versions of each slice's records; zero means not stored.
	Versions [Slices]uint8
	// Cursor is the number of slices that the next run need not fetch.
	Cursor  uint8
	Workers [Workers]Worker
}

// Lease is the connection's row. It stays when it is free, with its generation.
type Lease struct {
	Run        uint8 // zero means free
	Generation uint8
	Left       uint8 // ticks until it runs out
}

// Status is the state of a run in the history.
type Status uint8

const (
	NotStarted Status = iota
	Running
	Ended
	Abandoned
)

// Phase is how far a worker has got.
type Phase uint8

const (
	Idle    Phase = iota
	Peeked        // knows the cursor and has no lease: only with CursorReadFirst
	Holding       // holds the lease, does not know the cursor yet
	Working       // between two slices
	Checked       // has a slice in hand; whatever it checks before a commit has passed
	Half          // has written the cursor and not the records: only with SplitCommit
	Doubt         // does not know whether its commit was applied
)

// Worker is one process. A dead one is Idle: another takes its place.
type Worker struct {
	Phase      Phase
	Run        uint8
	Generation uint8
	At         uint8 // slices that it knows to be done
	Left       uint8 // ticks until its lease expires by its own, perfect clock: only with OwnClock
}

// Flaw is one departure from the protocol.
type Flaw uint8

const (
	None Flaw = iota
	// NoFence: what the start of the run granted is trusted until its end.
	NoFence
	// OwnClock: before a commit the worker makes sure, by a clock that is never
	// wrong, that its lease has not run out.
	OwnClock
	// CheckedBefore: the generation is compared in a transaction of its own,
	// before the one that commits.
	CheckedBefore
	// GenerationAlone: the fence compares the generation and not the run, though
	// a lease that was reclaimed keeps its generation until the next start.
	GenerationAlone
	// CursorReadFirst: the cursor is read before the lease is taken.
	CursorReadFirst
	// SplitCommit: the cursor is written before its records.
	SplitCommit
	// BlindInsert: records that are delivered again become a new version.
	BlindInsert
	// ForgetsOldRun: a takeover leaves the old run's history as it is.
	ForgetsOldRun
	// NoTakeover: a lease ends only by the hand of its holder.
	NoTakeover
)

// Protocol is a set of rules for workers and database.
type Protocol struct{ Flaw Flaw }

// Ours is the protocol that the store implements.
var Ours = Protocol{}
