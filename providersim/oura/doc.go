// Package oura simulates the parts of Oura's API that a person's own nights and days are read from, over
// real HTTP.
//
// # What it does as Oura does
//
// Access. A request needs "Bearer x"; a bad one answers 401 with a problem document, a scope that was not
// given 403, a phone whose app is too old 426 ("outdated").
//
// Paging. Pages have a size that nobody chooses and an opaque next_token, which is refused with other dates
// than its own. Without dates a day is given. A day-like end_date is midnight for sleep, daily_sleep and
// daily_activity: the day itself comes with the next one. A span of more than a year answers 400.
//
// Change. Documents of the last days change, and nothing announces it: a ring is read late, a night is
// analysed anew and gets another id, a session that the person discarded keeps its id with the type deleted.
//
// # Where this comes from
//
// Oura's API v2 documentation, read in excerpts in November 2026: collections, dates, next_token, members of documents. Oura
// publishes no package of types for npm, so that nothing but these excerpts was compared.
//
// # Simulation
//
// All data follows from [Config] and the mutations. Time in the data is that of [Config.Now], in days.
package oura
