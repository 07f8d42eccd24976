// Package googleapi is what the APIs of Google have in common: how they refuse, and lists that tell what changed
// since a token.
//
//	classify.go   what an answer means
//	allowance.go  whose allowance a run draws on
//	lists.go      such lists, and what a page of one holds
//	walk.go       one way through them
//	memory.go     what the bookmark remembers of a list
package googleapi
