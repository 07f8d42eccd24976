// Package oauth is how an app asks for a grant: OAuth 2.1 with the authorization code,
// pushed requests (RFC 9126), rich authorization requests (RFC 9396) and PKCE by S256,
// all of them mandatory, for clients without a secret.
//
// An app registers, pushes what it wants, and sends the owner's browser to the
// authorization endpoint, which leads to the consent page. The answer comes back with a
// code that is exchanged once. Errors have the form of the RFCs.
package oauth
