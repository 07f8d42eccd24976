// Package cadence decides when a connection is due: policy over evidence and
// now, and nothing else.
//
// Decide answers whether a scheduled run may start at this moment, and if not,
// why not and when it may. AfterRun returns how long to wait
// after a run. A run that was asked for waits for the
// provider as any other, and for nothing else that is decided here.
//
// A verdict has no part in it, and data health follows from none of it: that a
// connection waits says nothing about what it has collected.
package cadence
