// Package health derives the state of a connection from its evidence.
//
// The chain is Conditions (typed statements, each with its reason, time and
// remedy), axes (freshness, coverage, attention, outbox, remote surface) and
// Project (the headline, what decided it, and what comes next). The rules are
// tables: conditionTable, headlineRules, coverageOrder, dispositionRules and
// outboxRules, so that a reader can hold them beside the specification.
//
// Everything is a function of the evidence and of now. Nothing here reads a
// clock, a file or a database, and nothing is remembered between calls.
package health
