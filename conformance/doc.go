// Package conformance tests a connector. It acts as the runner for any executable that implements the protocol,
// over several runs. It reports what a runner would reject and what an owner would lose: a line that is not a
// message, a cursor ahead of its records, a question without an answer, a process that does not exit.
//
// It needs the connector's folder, and the variables for an account with some content. It needs nothing else of
// this repository: no store, no server, no runner. `pdpp-connectors test DIR` is its command.
package conformance
