// Package declarative simulates the provider of any declarative document.
//
// New reads a described document and invents an account that fits it: the records of each stream from its schema, the
// records of children for those of their parents, and answers with the paging that the document expects. The provider
// knows nothing of the interpreter in declarative/source. It evaluates the templates of the document forward, and finds
// out where a request carries the page, the partition and the window of time by evaluating it with two different ones.
//
//	provider.go   New, the HTTP handler, ground truth
//	endpoint.go   what the streams of a document ask for
//	partition.go  partitions and rows
//	shape.go      the requests of a partition, and which one arrived
//	window.go     windows of time in requests
//	paging.go     the pages of an answer
//	solve.go      the members of an answer that templates about pages read
//	item.go       items from schemas
//	expect.go     the record that an item must become
//	normalize.go  values cast to the schema
//	auth.go       credentials
//	signin.go     tokens for credentials
//	rules.go      settings that the document changes
//	mutate.go     changes between runs
package declarative
