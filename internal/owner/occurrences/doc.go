// Package occurrences finds when the events of a calendar take place within a span of time. Sources keep a series as it is
// written: one record with its rule, and one for each occurrence that was changed. What comes of a rule is computed here,
// each time it is asked for, and says so; nothing of it is stored.
//
//	event.go    a record as an event
//	series.go   what a rule gives
//	expand.go   events in, occurrences out
//
// It is pure: no clock, no files. What it cannot compute it names, with the reason.
package occurrences
