// Package rest is the engine of sources that are read with requests for JSON. A source is a value of Source: where its
// lists are, how pages follow each other, how items become records, what a refusal means. The engine makes the requests
// through the kit, so pace, retries, gaps, deletions, masking and drift detection work as for any connector.
//
//	source.go     Source, and the connector that New makes of it
//	stream.go     Stream: one list, its request, its items
//	request.go    a declared request, and what a page asks for
//	auth.go       credentials
//	grant.go      a sign-in with a name and a password
//	errors.go     what a response means
//	pager.go      pages: number, offset, token, address, Link
//	partition.go  parts of a stream: fixed values, children of parents
//	itemlist.go   the items of a list during a run
//	field.go      where the members of a record come from
//	plan.go       fields compiled with the schema; an item becomes a record in one pass
//	fieldvalue.go the value of one field
//	run.go        a source during a run: requests, the account, the provider's clock
//
// A stream's Sync decides what a run requests and what its bookmark holds:
//
//	FullList      the whole list in every run; absence is deletion, confirmed by a second walk
//	SingleObject  one object
//	DateWindows   windows of time, with the last days read again
//	EachPartition each partition on its own, with gaps
//	ChangeFeed    changes and deletions since a token
//	ChangeTokens  everything, then changes since a token that the provider can expire
//	ListDetail    a list, newest first, and the details of each item
//	RecentItems   the newest items, which is all that the provider keeps
//	DailySample   values that change all the time, once a day
//
// # Seams
//
// Everything in a declaration is a value, and each value can be computed instead. A front door that reads
// declarations from another language uses these:
//
//	base address          Source.Base
//	credential            Authenticator, AuthenticatorFunc
//	meaning of a response Source.Inspect, Source.Errors
//	request of a page     Stream.Prepare gets the run, the Ask (partition, window, token, page) and the request
//	next page             Pager
//	items of an answer    Stream.Select
//	item to record        Stream.Read, an ItemReader; or Computed for one field
//	items left out        Stream.Admit
//	partitions            Partitions, a function; Run.Items lists the items of another stream once per run
//	window of time        DateWindows.Start, End, Step, Granularity, FollowItems
//	anything else         Stream.Collect returns a collector of the kit
//
// A Pager must be safe to use for several streams, and a Read of a ListDetail's Detail for several goroutines. New
// returns an error if a declaration does not match the manifest; nothing is checked later.
package rest
