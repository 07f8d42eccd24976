// Package governhttp sends requests at the pace of a governor.Governor. It is the only place where a request to a
// provider waits.
//
// A Client is an http.RoundTripper, so any library can use it:
//
//	client, err := governhttp.New(governhttp.Options{BaseURL: "https://api.example.com"})
//	library := somelibrary.New(&http.Client{Transport: client})
//
// Such a client has its own governor, and what it learns is lost at exit. A program that runs repeatedly creates
// the governor, passes it to NewSender, sets Options.Sender, and stores governor.Governor.Snapshot between runs.
//
// Client.Do returns classified responses. Programs with another transport than HTTP pass their requests through a
// Sender.
//
// # The sender
//
// A Sender passes requests of any transport (HTTP, IMAP commands, pages in a browser) through one
// governor.Governor. Do repeats one request until its outcome is final. The layers, from the request outwards:
//
//	request    the attempt function: exactly one transmission
//	retry      Call.Observe decides; the pause is part of Call.Next
//	circuit    Call.Next denies at once while it is open, before any budget is checked
//	rate       Call.Next: the maximum of pace, quota, pause and Retry-After
//	timeout    of one attempt, in the transport; of the run, a denial by Call.Next
//	bulkhead   one slot per active call, acquired first and held to the end
//
// Retry, circuit and run budget never wait. The sender waits with one timer and calls Next again after each
// sleep, so that the decision is made at send time. Each transmission therefore has one wait: "preflight" before
// the first attempt, "retry" before any other. A Retry-After is the wait of the retry, with exactly that length.
// If no retry follows, the governor delays the next request until that instant. A wait that the run cannot afford
// does not start: Do returns a Stopped error with the pause that the provider asked for.
//
// SenderOptions.InFlight sets the number of slots, one by default. With governor.Config.Lanes the governor
// adjusts it after each call. Any number of goroutines may call Do; excess calls queue for a slot until another
// call ends.
//
// Each transmission records its waits in a Trail, which travels in the context. A sender used inside another one
// appears as a second source.
//
// # The HTTP client
//
// For a Client, one attempt is one HTTP exchange. It bounds the size of the response and the time without
// progress, and reads the whole body unless a stream is requested. It sends its credentials only to the base host
// and Options.Hosts: a redirect to another host is refused, and a redirect among them is a request of its own.
// All hosts share one pace. The client reads Retry-After and the quota headers of every response.
// Options.Classify decides what a response means.
package governhttp
