// Package google simulates the parts of Google's Calendar API v3 and People API v1 that a person's own calendars and
// contacts are read from, over real HTTP.
//
// # What it does as Google does
//
// Access. A request needs "Bearer x"; a bad one answers 401. A missing scope answers 403
// (insufficientPermissions in the Calendar API, ACCESS_TOKEN_SCOPE_INSUFFICIENT in the People API), an API that is not
// switched on in the project 403 (accessNotConfigured, SERVICE_DISABLED).
//
// Lists. Pages have opaque tokens. The last page has a sync token, with which a list later returns changes, deleted
// things included: events with the status cancelled, people with deleted metadata. A token that has ended answers
// 410 fullSyncRequired in the Calendar API and 400 EXPIRED_SYNC_TOKEN in the People API. A sync token or a page token
// goes with the parameters of the request that returned it.
//
// Events. A series is one event with its rule; an occurrence that was changed, or that does not take place, is an
// event of its own with recurringEventId and originalStartTime. Cancelled occurrences of a series that is there are
// in every list, and have no more than that.
//
// Sign-in. A refresh token comes only with the first answer, when access_type was offline, and is good again and
// again; that of an app in testing ends after seven days ([Config.Testing]). Boxes can be left empty
// ([Config.Withheld]).
//
// Limits. Config.Rate requests in a minute; a refusal is 403 rateLimitExceeded or 429 in turn, and names no time.
//
// # What is not known of Google and decided here
//
// Whether the occurrences of a deleted series are reported one by one: here those of every second series are. What
// changes while a list is read is reported by the token of its last page. A calendar of which only free or busy may be
// seen answers 403 forbidden. The order of a list is that in which its things were made. Unknown parameters answer
// 400.
//
// # Where this comes from
//
// The discovery documents of the People API v1 and the Calendar API v3. Answers of the People API were compared with
// the types of the package @googleapis/people 12.0.1 for npm.
//
// # Simulation
//
// All data follows from [Config] and the mutations. Time in the data is logical and moves only with mutations.
package google
