// Package browser lets a connector read a site through a browser that the owner signed in
// to. It starts Chromium, proves that its session is alive, hands the page to the owner
// when it is not and this run may ask, and offers the page as an HTTP transport, so that
// pace, repetition and classification are those of every other connector.
//
//	b, err := browser.Open(ctx, s, browser.Site{...})
//	client, err := s.HTTP(governhttp.Options{BaseURL: ..., Transport: b.Transport()})
//
// A browser is one process group with a profile of its own. It is driven over a pipe and
// ends with it: there is no port, no daemon, and nothing to attach to. It is an unmodified
// Chromium and says so.
package browser
