// Package thumbnail makes small pictures of the pictures that records have.
//
// A provider's file may be broken, or may attack the program that opens it. The server never decodes such a file.
// Make runs in a child process, which is this program again. The child can only access the files it needs, has no
// network, and has limited memory and time. At worst, a bad picture ends the child. The result is a JPEG that Make
// encodes, so that no byte of the original reaches a browser.
//
// A small picture is made on the first request. It is stored by the hash of its original, in a folder of limited size
// that is swept.
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
