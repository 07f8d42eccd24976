// Package credential keeps secrets: it seals them for storage, opens them for
// the one use they have, and makes sure that one which strays into a log, an
// error or an answer shows nothing.
//
// A credential of a connection is a small set of variables with their values,
// those that the connector's manifest declares. It is sealed under the owner's
// Key for exactly this connection: a copy of it does not open anywhere else.
package credential
