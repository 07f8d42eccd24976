// Package foreign runs programs with other protocols as connectors: unchanged Singer taps and Airbyte sources.
//
// Wrap discovers the streams of such a program and writes a connector folder: manifest.json, and adapter.json,
// which describes how the program is started. Connector returns a connector for that folder. It starts the
// program, called the tap, as a child process in the same process group, and translates its messages.
//
// The output of a tap is trusted no more than that of any connector. Exit code 0 proves nothing: claims.go
// decides what may be claimed about a stream, from the tap's messages and the traffic that the proxy saw.
package foreign
