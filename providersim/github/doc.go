// Package github simulates the parts of GitHub's REST API that a person's own
// data is read from, over real HTTP, so that a connector can be proven against a
// provider with known contents.
//
// # What it does as GitHub does
//
// Access. A request needs a User-Agent (else 403, plain text) and a token as
// "Bearer x" or "token x". A bad token answers 401; several in a row lock the
// account's sign-in with 403, the right token included. A token without the
// scope "repo" sees no private repository: lists leave it out, its objects
// answer 404. A fine-grained token without the permission answers 403. An
// organization can demand single sign-on: its objects answer 403 with
// X-GitHub-SSO, and lists leave it out and report it only in that header.
//
// Paging. per_page is 30 unless asked for, larger than [Config.MaxPage] is
// clamped. Pages are offsets over a moving set; Link names the next and the last
// page and is absent on the last one. Search serves the first [Config.SearchCap]
// results of a query and answers 422 for a page that starts past them. Events
// are the newest 300 of 90 days.
//
// Validators. Every 200 has an ETag that depends on token, Accept and content.
// If-None-Match answers 304 without a body and without a Link, and costs nothing
// of the primary limit.
//
// Limits. Primary: so many requests per hour, and apart from that so many
// searches per minute; x-ratelimit-* is on every answer of an authorised
// request. Secondary: points per minute and requests at once, refused with 403
// or 429 while x-ratelimit-remaining is above zero, with or without a
// Retry-After. GET /rate_limit is free.
//
// Change. Nothing announces a deletion. A deleted repository leaves its lists and
// answers 404, a deleted issue 410, a renamed repository 301 to its id, a blocked
// one 451.
//
// # Where this comes from
//
// GitHub's REST reference, version 2022-11-28, and the types of the package @octokit/openapi-types 29.0.1 for npm,
// with which the members that the simulator has were compared. It leaves out most members that GitHub has.
//
// # Simulation
//
// All data follows from [Config] and the mutations. Time in the data is logical
// and moves only with mutations; limits and the Date header use [Config.Now].
package github
