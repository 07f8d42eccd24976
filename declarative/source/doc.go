// Package source runs declarative manifests.
//
// New turns a document into a source of connectorkit/rest: requests, pages, partitions, windows of time, meanings of
// responses and records are computed from the templates of the document. The engine makes the requests and reads the
// pages, so pace, waits, gaps, deletions and masking work as for any connector.
//
//	source.go      New, and the settings of a run
//	request.go     the request for a page
//	page.go        pages
//	partition.go   partitions: lists of values, records of parents
//	window.go      windows of time
//	record.go      items, filters, keys
//	transform.go   changes of records
//	flatten.go     members of one object beside the record's own
//	normalize.go   values cast to the schema
//	meaning.go     what a response means
//	limit.go       declared limits
//	newkeys.go     pages without new records
//	object.go      JSON objects of records
//	auth.go        credentials
package source
