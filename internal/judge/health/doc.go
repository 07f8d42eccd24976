// Package health derives the state of a connection from its evidence.
//
// Evidence becomes conditions (typed statements with reason, time and remedy) and axes (freshness, coverage,
// attention, outbox, remote surface). Project derives the headline, the condition that decided it and the next step.
// The rules are tables that can be compared with the specification: conditionTable, headlineRules, coverageOrder,
// dispositionRules and outboxRules.
//
// All results depend only on the evidence and on now. The package reads no clock, file or database and keeps no state
// between calls.
package health
