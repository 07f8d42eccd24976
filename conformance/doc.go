// Package conformance tries a connector out. It plays the runner towards any executable
// that speaks the protocol, run after run, and tells what a runner would not accept or
// what a person would lose: a line that is no message, a cursor ahead of its records, a
// question that nobody answers, a process that does not end.
//
// It needs the connector's folder and the variables that lead to an account with
// something in it, and nothing else of this repository: no store, no server, no runner.
// `pdpp-connectors test DIR` is its command.
package conformance
