// Package evidence holds the durable facts that the health of a connection is
// derived from, one value per connection, each fact with its time.
//
// It is data and nothing more. A pointer that is nil, and a slice that is nil
// where the comment says so, mean "not measured": never zero, never healthy. A
// family of facts that could not be read at all is named in Unreadable, so that
// the lack of an answer cannot be taken for a good answer.
//
// Times are of the clock that wrote the fact. The JSON form is what a support
// file holds and what the judge tool replays.
package evidence
