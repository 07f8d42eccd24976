// Package readapi is the /v1 routes: what has been collected, for clients with a grant
// and for the owner's own programs.
//
// A request is first settled to views (package grants): streams with the limits under
// which they may be read. Everything that follows works on views alone, so that no
// route has a way around them, and answers with types of grantview, which have no place
// for anything but the data.
package readapi
