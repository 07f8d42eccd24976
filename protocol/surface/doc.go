// Package surface implements the surface channel, which shows the page of a connector's browser to the owner and
// sends the owner's input to the page.
//
// The channel is a pair of connected sockets. The connector inherits one end (surface_fd of the browser binding),
// the worker holds the other. It is used only during an open INTERACTION. It carries no secret of the system, but
// pictures and input are the owner's private data: they must not be logged or stored.
//
// A channel is a sequence of frames. The connector sends Ready when it shows a page, a Picture when the last one
// was Seen, Place when the page changes, Choices and Dialog for elements that are missing in Chromium's pictures,
// Settled when the owner is signed in, and Closed at the end. It receives View (size, quality, paused or not),
// Seen, Input, Choose and End. Each side ignores unknown kinds. A malformed frame, or a value out of bounds, ends
// the channel.
//
// The package is pure: it opens no file or socket.
package surface
