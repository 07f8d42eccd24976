// Package scheduler makes connections collect by themselves, on one machine or
// on many that share a database.
//
// Three things are kept apart. Cadence says whether a connection is due. River
// keeps the queue of what is to be run, one job per connection at most, in a
// queue per capability. The store's lease owns a connection during a run: every
// commit is fenced by its generation, so that a worker that was taken for dead
// cannot write.
//
// Every worker process makes passes over the connections that are to be checked
// (pass.go). A pass needs no leader: checks are claimed, jobs are unique, and
// whatever two passes do twice changes nothing. A job carries no decision: when a
// worker takes it, the facts of that moment decide (work.go), so that what the
// owner changed meanwhile counts.
package scheduler
