// Package protocol implements the messages between a connector and the runner: one JSON object per LF-terminated
// line, from the connector on stdout and to the connector on stdin.
//
// Message is a closed sum type: every message is one of the structs in fromconnector.go and toconnector.go.
// Decoding is strict about known parts (types, enums, required fields) and tolerant of unknown ones: it ignores
// unknown members and rejects unknown message types. A rejected line becomes a *Violation, which describes the
// error without record content.
//
// A connector writes with AppendLine. A runner reads with a LineReader, which bounds a line, and a Decoder for
// one direction. docs/extend/protocol describes the order of messages, the checkpoint modes and how the runner
// handles each violation.
//
// The package is pure: it reads no clock, starts no goroutine and opens no file or socket.
package protocol
