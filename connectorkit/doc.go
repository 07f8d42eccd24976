// Package connectorkit is the library for connector authors. The author writes how to list, how to map and how to
// classify a provider's responses. The kit does the rest: it implements the protocol on stdin and stdout, asks
// for missing credentials, validates and filters every record, divides the work into slices that commit, records
// and recovers what could not be fetched, respects the owner's caps, and ends cleanly.
//
// A connector is a manifest and an Open function that returns collectors:
//
//   - PagedStream collects one stream page by page; each page is a slice.
//   - ListDetail lists one stream newest first and fetches the details of each item
//     into a second one. Details that cannot be fetched become durable gaps.
//   - FullList collects one stream from a list in which absence is a deletion.
//   - PushSource collects several streams in the order of the source.
//
// A list that the provider's limit or the run's own limits cut short is a durable gap as well; a later run
// continues from the last finished slice.
//
// Authors return failures as *Error with a Class. The kit decides what follows from a class: end the run, fail
// the stream, record a gap, or stop the lane.
//
// Requests use the client of Setup.HTTP, or Setup.Sender for any other transport. Nothing else waits for a
// provider: the pace adapts to the provider's limit, failures are retried within a budget, and the bookmarks pass
// the learned pace to the next run, without any code of the author.
//
// A program passes the connector to Main. There are two kinds of tests: connectortest/recorded uses recorded
// responses, connectortest uses a simulated provider and the real runner. docs/extend/first-source.md is the
// tutorial.
//
// Four variables of the owner cap a run, where X is the manifest's EnvPrefix. They are off unless set to a
// positive number:
//
//	X_MAX_DETAIL_FETCHES_PER_RUN       requests for details
//	X_MAX_RUN_WALL_CLOCK_MS            time since the first detail
//	X_MAX_WHOLE_RUN_WALL_CLOCK_MS      time since the run's start, lists included
//	X_MAX_TAIL_DEFERRAL_GAPS_PER_RUN   gaps written one by one after a stop
//
// docs/operate/connector-variables.md lists the owner's variables for the pace. A manifest need not declare any of
// these.
package connectorkit
