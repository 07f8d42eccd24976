// Package sample simulates Lumen Notebook, an invented note-keeping service,
// over real HTTP. It exists so that a connector can be proven against a
// provider with known contents.
//
// # Fact sheet
//
// Access. Every request carries "Authorization: Bearer <token>".
//
//	401 token_missing       no header, or not of that form
//	401 token_expired       the token has run out
//	401 token_revoked       the token was withdrawn, rotated away or never issued
//	403 insufficient_scope  the token lacks events:read, notes:read or threads:read
//
// Errors are {"error":{"code":"..."}} with content type application/json.
// Unknown paths answer 404 not_found, other methods 405 method_not_allowed, and
// a query parameter that a path does not know 400 unknown_parameter.
//
// Lists take limit (default 100). Over 200 answers 400 limit_too_large; zero,
// negative or no number answers 400 invalid_limit. Cursors are opaque, signed
// and bound to their list; a page may hold fewer items than the limit.
//
// GET /v1/me needs no scope.
//
//	{"id","name"}
//
// GET /v1/events?cursor=&limit= is an append-only log, oldest first. next_cursor
// is always there; used later it returns what was appended since. A foreign or
// altered cursor answers 400 invalid_cursor.
//
//	{"events":[{"id","at","kind","note_id","device"}],"next_cursor","has_more"}
//
// GET /v1/notes/changes?since=&limit= is a change feed of mutable notes: each
// note appears once, at the place of its latest change. Without since it
// returns every live note; a note that was deleted before such a walk began
// does not appear in it, one deleted during or after it appears as a tombstone.
// next_since is always there. A bad since answers 400 invalid_cursor.
//
//	{"notes":[...],"next_since","has_more"}
//	{"id","title","body","tags":[],"updated_at","deleted":false}
//	{"id","deleted":true,"updated_at"}
//
// GET /v1/threads?before=&after=&page=&limit= lists threads newest first by
// updated_at, ties by id descending. before and after are RFC 3339 with up to
// nanoseconds, both inclusive and optional; anything else answers 400
// invalid_time. next_page is absent at the end. A page token works only with the
// before and after it was issued for, else 400 invalid_page. Several threads may
// share one updated_at. A thread that is touched during a walk moves to the
// front and may be missing from the rest of the walk. Deleted threads vanish.
//
//	{"threads":[{"id","title","updated_at","message_count"}],"next_page"}
//
// GET /v1/threads/{id} returns one thread with its messages, oldest first.
// Unknown ids answer 404 not_found, deleted ones 410 gone.
//
//	{"id","title","updated_at","messages":[{"id","author","text","sent_at"}]}
//
// Throttling happens only when a fault asks: 429 rate_limited with Retry-After
// in seconds, as an HTTP-date, or without; 503 unavailable; 500 internal.
//
// Text is UTF-8 and may hold any character, line separators (U+2028) unescaped.
//
// # Simulation
//
// All data follows from [Config]: equal configurations and equal mutations produce
// equal bytes. Time in the data is logical and moves only with mutations; buckets
// and announced waits use Config.Now.
package sample
