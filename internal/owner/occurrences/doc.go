// Package occurrences computes when the events of a calendar take place within a span of time. A source stores a
// series as one record with its rule, and one record for each changed occurrence. This package expands the rule on
// each request and marks the results as computed. It stores nothing.
//
//	event.go    a record as an event
//	series.go   the times of a rule
//	expand.go   events in, occurrences out
//
// The package uses no clock and no files. It lists each series that it cannot compute, with the reason.
package occurrences
