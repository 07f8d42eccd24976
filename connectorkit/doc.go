// Package connectorkit is what the author of a connector imports. The author
// writes how to list, how to map and how to classify a provider's answers; the
// kit does everything that all connectors have in common: it speaks the protocol
// on stdin and stdout, asks for missing credentials, validates and narrows every
// record, cuts the work into slices that commit, remembers what could not be
// fetched and recovers it, keeps to the owner's caps, and ends cleanly.
//
// A connector is a manifest and an Open function that returns collectors:
//
//   - Flat collects one stream page by page; each page is a slice.
//   - Lane lists one stream newest first and fetches the details of each item
//     into a second one. What it cannot fetch becomes a durable gap.
//   - Inventory collects one stream from a list whose absences are deletions.
//
// A list that the provider's limit or the run's own bounds cut short is a durable
// gap as well; a later run reads on from the last finished slice.
//
// Failures are returned as *Error with a Class. What follows from a class (end
// the run, fail the stream, record a gap, stop the lane) is decided here.
//
// Requests go through the client of Setup.HTTP, or through Setup.Sender for any
// other transport. Nothing else waits for a provider: the pace adapts to what it
// bears, failures are repeated within a budget, and what was learned travels to
// the next run on the bookmarks, without a line of the author's.
//
// A program hands the connector to Main. Tests have two tiers: connectortest/recorded
// runs it on recorded answers, connectortest against a simulated provider under the
// real runner. docs/adding-a-connector.md leads through all of it.
//
// Four owner caps bound a run, where X is the manifest's EnvPrefix. They are off
// unless set to a positive number:
//
//	X_MAX_DETAIL_FETCHES_PER_RUN       requests for details
//	X_MAX_RUN_WALL_CLOCK_MS            time since the first detail
//	X_MAX_WHOLE_RUN_WALL_CLOCK_MS      time since the run's start, lists included
//	X_MAX_TAIL_DEFERRAL_GAPS_PER_RUN   gaps written one by one after a stop
//
// The owner's variables for the pace are in docs/operations.md. A manifest need
// not declare any of these.
package connectorkit
