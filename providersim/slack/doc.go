// Package slack simulates the parts of Slack's Web API that a person's own conversations are read from, over real HTTP.
//
// # What it does as Slack does
//
// Access. A request needs "Bearer x". A refusal has the status 200 and ok: false with the name of the error; a
// token without a scope gets missing_scope ("narrow").
//
// Paging. Lists have an opaque cursor that is refused with another question than its own. A history comes newest
// first, within oldest and latest; every third page of one is empty although more follow. A thread comes oldest
// first, and each page repeats the message that began it. Files have numbers of pages.
//
// Change. An edit, a reaction or a reply does not make a message newer. A message that is deleted is gone; one with
// replies leaves a tombstone. A reply to an old message ("reply_old") shows in the reply_count and latest_reply of
// its parent only. A cursor may expire ("expire"). A conversation that was left answers channel_not_found ("leave").
//
// Limit. Config.Rate requests of each method in any minute; a refusal is a 429 with Retry-After.
//
// # Where this comes from
//
// Slack's Web API as of November 2026: the reference pages of the methods, and the types of answers in the package
// @slack/web-api 8.2.0 for npm, with which the members were compared. Limits: the page "Rate limits" with the change
// of 2025-05-29, from which an app of one workspace is exempt. A history holds no replies and is not moved by them:
// the reference page of conversations.history.
//
// # Simulation
//
// All data follows from [Config] and the mutations; its times lie before [Config.Now].
package slack
