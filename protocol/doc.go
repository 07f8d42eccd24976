// Package protocol is the language between a connector and the runner: one
// JSON object per LF-terminated line, connector to runner on stdout, runner to
// connector on stdin.
//
// Message is a sealed sum type: every message of both directions is one of the
// structs in fromconnector.go and toconnector.go. Decoding is strict about what
// it knows (types, enums, required fields) and tolerant of what it does not
// (unknown members are ignored, unknown message types are refused). A refused
// line becomes a *Violation, which describes the fault without ever repeating
// record content.
//
// A connector writes with AppendLine. A runner reads with a LineReader, which bounds a
// line, and a Decoder for one direction. Order, checkpoint modes and what the runner
// does about each mistake are in docs/protocol.md.
//
// The package is pure: it reads no clock, starts no goroutine and touches no
// file or socket. LineReader reads from the io.Reader that it is given.
package protocol
