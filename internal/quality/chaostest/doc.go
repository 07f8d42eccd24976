// Package chaostest lets the scheduler suffer: real pdpp processes over a real
// database collect from simulated providers that change and refuse, while
// workers are ended with SIGKILL, paused beyond their leases and woken, and the
// database server is torn down. When it is quiet again, the store is held against
// the providers' ground truth and the event log against the rule that a
// connection has one writer at a time.
//
// The package has no code of its own. What is random follows from a seed
// (PDPP_CHAOS_SEED); PDPP_CHAOS_MINUTES makes the test long, see `make chaos`.
package chaostest
