// Package oura simulates the parts of Oura's API that a person's own nights and days are read from, over
// real HTTP.
//
// # What it does as Oura does
//
// Access. A request needs "Bearer x"; a bad one answers 401 with a problem document, a scope that was not
// granted 403, a phone with an outdated app 426 ("outdated").
//
// Paging. Pages have a fixed size and an opaque next_token, which is refused with other dates
// than its own. Without dates it answers one day. A day-like end_date is midnight, but for daily_readiness: the day
// itself comes with the next one. A span of more than a year answers 422.
//
// Change. Documents of the last days change, and nothing announces it: a ring is read late, a night is
// analysed again and gets another id, a session that the person discarded keeps its id with the type deleted.
//
// # Where this comes from
//
// Oura's OpenAPI document of API v2 (a copy of July 2026): collections, parameters, next_token, the members of each
// document and their types. Which scope a collection needs is not in it. That comes from two public clients, which
// agree. Oura publishes no package of types for npm. Oura does not document how the days of a rest mode are compared:
// this simulator compares its first day.
//
// # Simulation
//
// All data follows from [Config] and the mutations. Time in the data is that of [Config.Now], in days.
package oura
