// Package deviceapi serves the devices that collect for the owner, under /_ref/device-exporters. It
// enrols devices with a code and stores their uploads. The messages are defined in
// internal/device/wire.
//
// # The order of checks
//
// Every route performs these checks in order and reports the first failure:
//
//   - the protocol version (409, with the accepted versions)
//   - the token (401; 403 for the token of an owner or a client)
//   - the address names the token's device (403)
//   - the source is an active one of the device (404 if the address names it, 400 if the body does)
//   - the source's connection is active (403)
//   - the body
//
// # Adding a route
//
// A group of routes is a file with one function, such as tokenRoutes, that Routes calls. Wrap a
// handler for the whole device with a.device, and a handler with {source} in its address with
// a.source. Both pass a caller: the device and, for a.source, also the source and its connection. A
// handler that finds the source in its body calls a.named. The envelope reports an error that a
// handler returns: a *usererr.Error unchanged, every other error as an internal error.
//
// The checks before the body do not hold a lock, and a source may end in the meantime. Every write for
// a source must compare DeviceSource.Generation in its own transaction.
package deviceapi
