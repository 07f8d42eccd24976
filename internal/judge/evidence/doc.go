// Package evidence holds the durable facts from which the health of a connection is derived: one value per
// connection, each fact with its time.
//
// The package contains data and queries on that data. A nil pointer means "not measured": never zero, never healthy.
// The same holds for a nil slice where its comment states so. Unreadable lists each family of facts that could not be
// read, so that a failed read never looks like a good result.
//
// Times come from the clock of the process that wrote the fact. Support files contain the JSON form, and the judge
// tool replays it.
package evidence
