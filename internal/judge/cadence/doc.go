// Package cadence decides when the next scheduled run of a connection may start. It depends only on evidence and the
// current time.
//
// Decide returns whether a scheduled run may start now, and if not, why and when it may. AfterRun returns how long to
// wait after a run. A run that the owner requests waits for the provider like any other, but for no other rule of
// this package.
//
// Scheduling does not depend on verdicts, and health does not depend on scheduling: a waiting connection may be
// complete.
package cadence
