// Package dav reads the collections of a WebDAV account: calendars (CalDAV, RFC 4791) and
// address books (CardDAV, RFC 6352). A connector declares what it looks for and what an object
// means; here it is found, followed and accounted for.
//
//	account.go     from the owner's address to the home of the collections
//	collection.go  what the home holds
//	changes.go     what is new in a collection: by its sync token, else by ETags
//	objects.go     the objects themselves, many in one request
//	walk.go        all of it as a stream, with a bookmark after each batch
//	memory.go      what the bookmark remembers
//	multistatus.go one answer
//
// What was read is remembered object by object, so that a run that is cut short goes on
// where it was, and a token that the server no longer accepts costs a list: what the list
// has with another ETag is read again, and what it no longer has is deleted when a second
// list of another kind does not have it either.
package dav
