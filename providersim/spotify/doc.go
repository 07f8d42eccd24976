// Package spotify simulates the parts of Spotify's Web API that a person's own library is read
// from, over real HTTP, as an app in development mode sees it.
//
// # What it does as Spotify does
//
// Access. A request needs "Bearer x". A token that ran out answers 401 "The access token expired",
// any other bad one 401 "Invalid access token", both with WWW-Authenticate. A scope that was not
// granted answers 403 "Insufficient client scope"; a person who is not among the app's users gets 403
// in plain text ("stranger").
//
// Paging. Pages are offsets over a moving set with an absolute next; limit is 20 unless asked for,
// and more than 50 answers 400 "Invalid limit". What was played is a list of the newest
// [Config.Window] plays, with cursors in milliseconds that are exclusive; a page behind them is empty.
//
// Content. A playlist has a snapshot that changes with its entries. Its entries are served for
// playlists that the person owns or works on; others answer 403, and so does the old address of
// entries (/tracks). Playlists that Spotify makes are null in the list. An entry with a track that was
// removed has none, a file of the person's own has no id.
//
// Limits. A rolling window of 30 seconds over all requests of the app: 429 with Retry-After in
// seconds, in JSON or in plain text, which may be a day ([Config.Penalty]).
//
// Change. Nothing announces a deletion: what was unsaved or unfollowed is simply not listed.
//
// # Where this comes from
//
// Spotify's Web API, OpenAPI document stored 2026-08-21, and the migration guide of February 2026. Members were
// compared with the types of the package @spotify/web-api-ts-sdk 1.2.0 for npm, which is older than the names items
// and item.
//
// # Simulation
//
// All data follows from [Config] and the mutations. Time in the data is logical and moves only with
// mutations; limits and the Date header use [Config.Now].
package spotify
