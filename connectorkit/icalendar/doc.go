// Package icalendar turns the content of a calendar into records (RFC 5545), for every
// source of calendars alike: events and tasks, with their times as far as the zone can
// be determined.
//
// A series is kept as it is written: its rule, its exceptions, and a record of its own for
// each occurrence that was changed. Nothing is expanded, and nothing needs to be readable
// for a record to exist: what cannot be read of an event is left out of it.
package icalendar
