// Package surface is the language of the surface channel: how the page that a connector's
// browser shows reaches the owner's screen, and the owner's hand the page.
//
// The channel is a pair of connected sockets. One end is a file that the connector
// inherits (surface_fd of the browser binding), the other is the worker's. It speaks only
// beside an open INTERACTION and carries no secret of ours, but pictures and input are the
// owner's: whoever handles a frame neither logs nor keeps it.
//
// A channel is a sequence of frames. The connector sends Ready once it shows a page, a
// Picture when the last one was Seen, Place when the page is another one, Choices and
// Dialog for what Chromium paints outside of its pictures, Settled when the owner is
// signed in, Closed at its end. It gets View (how large, how good, whether at all), Seen,
// Input, Choose and End. A kind that one side does not know is ignored; a frame that is
// broken, or whose values are out of bounds, ends the channel.
//
// The package is pure: it reads and writes what it is given.
package surface
