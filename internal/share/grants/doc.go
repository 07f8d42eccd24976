// Package grants is what a client may read: scopes, the tokens that carry them, the
// requests by which apps ask for them, and the owner's answers.
//
// A grant names parts of streams. What lies outside is kept out twice: the limits
// become part of the statement that reads (store.AccessFilter), and a record loses every field
// that is not granted before anything is written. Secrets are random, are kept as their
// SHA-256 and are found by it, so that no code here compares one.
package grants
