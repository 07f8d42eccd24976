// Package governhttp sends a connector's requests to its provider. A connector
// owns no other way to reach the network, so that there is exactly one place
// where a provider request may wait.
//
// Do makes one attempt. It bounds the time and the size of an answer, refuses to
// follow a redirect to another host, reads the whole body and parses Retry-After.
// What an answer means is the connector's to say, through Options.Classify.
// Nothing here sleeps or retries.
package governhttp
