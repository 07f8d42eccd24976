// Package strava simulates the parts of Strava's API that a person's own activities are read from,
// over real HTTP, with the sign-in that leads there.
//
// # What it does as Strava does
//
// Sign-in. GET /oauth/authorize sends the person back with a code and with the scopes that they left
// ticked ([Config.Withheld] is not among them), separated by commas. POST /oauth/token takes the app's
// number and secret from the form, returns an access token of six hours and a refresh token that is good
// once, and answers a bad one with 400 and an envelope of its own, without OAuth's word for it.
//
// Access. A bad token answers 401 for Athlete/access_token, a missing scope 401 for
// activity:read_permission. Activities that only the person sees need activity:read_all, and are
// otherwise left out without a word.
//
// Paging. Page numbers, 30 to a page unless asked for, 200 at most. A page may hold fewer than that
// before the end ([Config.Ghosts]); the end is an empty array. after and before are about the start of
// an activity.
//
// Limits. Of the whole app, by the quarter of an hour and by the day in UTC, with two pairs of headers on
// every answer. 429 has no Retry-After, and counts.
//
// Change. Nothing announces an edit, a late upload or a deletion.
//
// # Where this comes from
//
// Strava's API v3 reference (SummaryActivity, rate limits, OAuth), read in excerpts in November 2026. Strava
// publishes no package of types for npm, so that nothing but these excerpts was compared.
//
// # Simulation
//
// All data follows from [Config] and the mutations. Time in the data is logical and moves only with
// mutations; limits and the Date header use [Config.Now].
package strava
