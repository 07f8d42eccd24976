// Package cadence decides when a connection is due: policy over evidence and
// now, and nothing else.
//
// Decide answers whether a scheduled run may start at this moment, and if not,
// why not and when it may. AfterRun tells how long to wait after a run. What the
// owner starts by hand is not asked here: a manual run bypasses every wait.
//
// A verdict has no part in it, and data health follows from none of it: that a
// connection waits says nothing about what it has collected.
package cadence
