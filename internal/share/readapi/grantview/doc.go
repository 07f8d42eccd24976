// Package grantview holds what a client with a grant may read: streams, records
// and changes, and how old they are.
//
// Everything else that is known of a connection is for its owner: health,
// verdicts, what is missing and why, devices, credentials, runs. This package
// has no type for any of it and imports nothing that has, so that a response
// built from these types cannot carry it.
package grantview
