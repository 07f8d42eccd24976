// Package governproxy is a forward proxy on loopback that paces the requests of an unmodified program.
//
// Every host that the program may reach has one governhttp.Sender. A request waits only there, and is retried
// there if that is safe. Other hosts are refused. TLS is inspected with a certificate authority of the run, and
// its key never leaves this process: otherwise a proxy sees neither requests nor refusals. A client that rejects
// the certificate gets a tunnel, in which only connections are paced and nothing is inspected.
//
// The traffic is neither stored nor logged. Seen reports the results of requests by status.
package governproxy
