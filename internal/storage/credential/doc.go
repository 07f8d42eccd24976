// Package credential handles secrets: it seals them for storage, opens them for use, and prevents that they appear in
// logs, errors or responses.
//
// A connection's credential is a small set of variables and values that the connector's manifest declares. It is
// sealed with the owner's Key for this connection, so that a copy cannot be opened for another one.
package credential
