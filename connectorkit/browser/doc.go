// Package browser lets a connector read a site through a browser that the owner signed in to. It starts Chromium and
// checks that its session is alive. If it is not, and the run may ask, it shows the page to the owner. It offers the
// page as an HTTP transport, so that pacing, retries and error classes are those of every other connector.
//
//	b, err := browser.Open(ctx, s, browser.Site{...})
//	client, err := s.HTTP(governhttp.Options{BaseURL: ..., Transport: b.Transport()})
//
// A browser is one process group with its own profile. It is controlled over a pipe and ends when the pipe closes:
// there is no port, no daemon, and nothing to attach to. It is an unmodified Chromium with its own user agent.
package browser
