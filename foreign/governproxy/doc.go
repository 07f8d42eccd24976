// Package governproxy is a forward proxy on loopback that paces the requests of a program which
// nobody can change.
//
// Every host that the program may reach has one governed way (governhttp.Sender); a request
// waits there and nowhere else, and is repeated there where that is safe. Other hosts are
// refused. TLS is inspected by a certificate authority of the run, whose key never leaves this
// process: without that a proxy sees neither requests nor refusals. A client that does not
// accept it gets a tunnel, in which only connections are paced and nothing is seen.
//
// What passes is neither kept nor logged. Seen tells what became of the requests, by status.
package governproxy
