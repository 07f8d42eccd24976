// Package deviceapi answers the devices that collect for the owner, under
// /_ref/device-exporters: it lets them in by a code, and takes what they send. The
// messages are those of internal/device/wire.
//
// # The order of checks
//
// Every route checks in one order, and says of the first that fails: the protocol (409
// with the accepted versions), the token (401; that of an owner or a client 403), whether
// the address names the token's device (403), whether the source is an active one of it
// (404 when the address names it, 400 when the body does), whether its connection is
// active (403), and then the body.
//
// # Adding a route
//
// A group of routes is a file with one function, such as tokenRoutes, that Routes calls. A
// handler that acts for the device as a whole is wrapped with a.device, one whose address
// has {source} with a.source, and both get a caller: the device, and for the second also
// the source and its connection. A handler that finds the source in its body calls
// a.named. What a handler returns as an error is answered by the envelope: a *fault.Fault
// as it is, everything else as trouble of ours.
//
// A check before the body is no fence: a source may end meanwhile. Whatever is written for
// a source compares DeviceSource.Generation within the transaction that writes.
package deviceapi
