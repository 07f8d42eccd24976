// Package crashtest proves durability the hard way: it ends connector, runner
// or both with SIGKILL, at every commit boundary and at random moments, on
// SQLite and on PostgreSQL, and then holds the store against the ground truth
// of the simulated provider.
//
// The package has no code of its own: its test binary plays the runner process
// that is killed, and the built-in connector host is the connector.
package crashtest
