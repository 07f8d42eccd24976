// Package readapi implements the /v1 routes, which return collected data to clients with a grant and to the owner's
// own programs.
//
// A request is first resolved to views (package grants): streams with the limits under which they may be read. All
// later code works only on views, so no route can bypass them. Answers use types of grantview, which have no members
// besides the data.
package readapi
