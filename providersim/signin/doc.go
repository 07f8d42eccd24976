// Package signin simulates how a person signs in at a site, in a real browser: pages,
// cookies, second steps, walls against robots, and pages that misbehave. A simulated
// provider that is reached by a browser puts it in front of its own routes.
//
// # Pages
//
//	GET  /auth/login        the form: username, password; or what State.Page asks for
//	POST /auth/login        wrong: the form again with a sentence; right: the second step, or signed in
//	GET  /auth/second       the second step: a code (totp, email), or waiting for an approval (push)
//	POST /auth/second       code
//	GET  /auth/push         {"approved":bool}, asked by the waiting page
//	GET  /auth/partner      the window of "Continue with Acorn"; POST signs in and closes it
//	GET  /auth/logout       ends the session
//	GET  /api/auth/session  {} when signed out, with status 200; else user, expires, accessToken
//	GET  /robots.txt        a bare page of the same origin; never walled
//	GET  /wall              POST with the box ticked sets the clearance
//
// Being signed in is one cookie, HttpOnly and Secure, which browsers accept from loopback. The
// access token that the session call names lives for minutes and is asked for again.
//
// A wall answers every request but /robots.txt and /wall with 403: API calls with a page of HTML
// and the header cf-mitigated, documents with a page that has one box to tick. The clearance
// is a cookie that counts for the User-Agent that ticked it.
//
// # Control
//
//	GET  /signin  a [State]: what is set, what happened, the codes that a person would get
//	POST /signin  an [Order]; answers the State after it
//
// All of it is invented: accounts, passwords and the partner.
package signin
