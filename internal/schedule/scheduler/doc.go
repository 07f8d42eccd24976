// Package scheduler starts runs without the owner, on one machine or on several that share a database.
//
// Three parts are separate. Cadence decides whether a connection is due. River holds the queue of runs: at most one
// job per connection, in one queue per capability. The store's lease owns a connection during a run: every commit is
// fenced by the lease's generation, so a worker that was declared dead cannot write.
//
// Every worker process makes passes over the connections to check (pass.go). A pass needs no leader: checks are
// claimed, jobs are unique, and repeated work changes nothing. A job contains no decision: when a worker takes it,
// the current facts decide (work.go), so changes by the owner in the meantime count.
package scheduler
