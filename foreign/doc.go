// Package foreign lets programs that speak another protocol collect here: Singer taps and
// Airbyte sources, unchanged.
//
// Wrap asks such a program what it offers and writes a connector folder: manifest.json, and
// adapter.json, which says how the program is started. Connector makes of that folder a
// connector that speaks our protocol and starts the program, called the tap, as a child of its
// own in the same process group.
//
// Nothing that a tap writes is trusted more than what any connector writes. That it exits with 0
// claims nothing: what may be said of a stream is decided in claims.go, from what the tap said
// and from what the proxy saw of its traffic.
package foreign
