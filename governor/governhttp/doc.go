// Package governhttp sends requests at the pace that a governor.Governor finds, and is
// the one place where a request to a provider waits.
//
// Any program can use it: a Client is an http.RoundTripper.
//
//	client, err := governhttp.New(governhttp.Options{BaseURL: "https://api.example.com"})
//	library := somelibrary.New(&http.Client{Transport: client})
//
// Made like that, a client has a governor of its own that forgets what it learned. A program
// that runs again makes the governor itself, gives it to NewSender and the sender to
// Options.Sender, and keeps governor.Governor.Snapshot between runs.
//
// A program that wants answers with their meaning calls Client.Do, and one whose
// transport is not HTTP passes its requests through a Sender.
//
// # The sender
//
// A Sender passes requests of any transport (HTTP, IMAP commands, pages in a
// browser) through one governor.Governor. Do runs one request to its final
// outcome. Its layers, from the request outwards:
//
//	request    the attempt function: exactly one transmission
//	retry      Call.Observe says whether to repeat; the pause is part of Call.Next
//	circuit    Call.Next denies at once while it is open, before any budget is asked
//	rate       Call.Next: the largest of pace, quota, pause and Retry-After
//	timeout    of one attempt, in the transport; of the run, a denial by Call.Next
//	bulkhead   a slot for each call at work, taken first and kept to the end
//
// Retry, circuit and run budget only answer yes or no. Waiting is done here, by
// one timer, and is asked for again after each sleep: the decision falls at send
// time. So a transmission has one wait: "preflight" before the first attempt,
// "retry" before any other. A Retry-After is the retry's wait, exactly as long as
// told; where no retry follows, the governor holds the next request until that
// instant instead. A wait that the run cannot afford is not begun: the request
// is Stopped and says how long the provider wants quiet.
//
// How many slots there are says SenderOptions.InFlight, one unless set, or with
// governor.Config.Lanes the governor, call by call. Any number of goroutines may call Do.
// Queueing for a slot is no such wait. It ends when another request does, and no
// clock decides it.
//
// Each transmission leaves a Trail of its waits, which travels in the context. A
// sender composed around another one shows as a second source on it.
//
// # The HTTP client
//
// Client makes one attempt an HTTP exchange: its size is bounded and so is the time in
// which nothing arrives, and the body is read to the end, unless a stream is asked for. It
// keeps the credential in its headers with the hosts that it was made for, the base's and
// Options.Hosts: a redirect to another one is refused, and one among them is a request of
// its own. All of them share one pace. Retry-After and the quota headers are read from
// every answer. What an answer means is the caller's to say, through Options.Classify.
package governhttp
