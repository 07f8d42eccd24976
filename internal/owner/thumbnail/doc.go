// Package thumbnail makes small pictures of the pictures that records have.
//
// What a provider sent may be broken, or made to break whoever opens it. Nothing of it is
// decoded in the server: Make runs in a child, which is this program again, confined to files
// that it needs, without a network, and bounded in memory and time. A picture that cannot be made
// ends the child at the worst. What comes out is a JPEG that Make has written itself, so that no
// byte of the original reaches a browser.
//
// Small pictures are made when they are first asked for, and kept by the content of their
// original in a folder that is bounded and swept.
package thumbnail

// The bounds of one picture.
const (
	// Side is the longer side of a small picture.
	Side = 480
	// MostBytes is how large a small picture gets.
	MostBytes = 60 << 10
	// mostInput is how large an original may be, and mostPixels how many it may have.
	mostInput  = 64 << 20
	mostPixels = 50_000_000
)
