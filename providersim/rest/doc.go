// Package rest simulates what providers with a REST API have in common, so that a simulator is data and the quirks of
// one provider. It shares no code with the connectors' engine.
//
//	Credentials  bearer token, API key, basic; scopes; expired and revoked tokens ([Options], [Credential])
//	Errors       one function renders every refusal in the provider's form ([Refusal])
//	Limits       requests in any window of time, with or without Retry-After ([Limit])
//	Pages        number, offset, token, next address, Link header; totals, short and empty pages ([Pager])
//	Changes      a sync token or the number of the last change, deleted rows included ([Pager.Since])
//	Conditions   ETag and Last-Modified, answered with 304 ([Options.ETags], [Answer.Modified])
//	Data         seeded rows, operations that add, change, delete and add late, ground truth ([Collection])
//	Sign-in      OAuth with codes, PKCE and refresh tokens ([Consent])
//
// Faults, drift, counters and the control port are those of [providersim]. The example of the package is a whole
// simulator.
package rest
