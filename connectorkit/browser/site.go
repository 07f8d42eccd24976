package browser

import (
	"context"

	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// Site is what a connector knows about the place that it reads.
type Site struct {
	// Home is the origin that is read: scheme and host.
	Home string
	// SignIn is the address of the page where an owner signs in; empty means Home.
	SignIn string
	// Quiet is the path at Home that requests are sent from, without its document being asked
	// for; empty means /robots.txt.
	Quiet string
	// Cookie names the session cookies: a name, or a prefix followed by a star. Without any of them the owner is not
	// signed in. During a sign-in, a change of one triggers a probe. Empty means that only a probe can decide.
	Cookie string
	// Headers are the headers of the site's own API that requests may carry, besides the common ones. Headers that
	// describe the browser are set by the browser.
	Headers []string
	// Probe asks the provider's API who is signed in, with one request by Page.Fetch. Nothing else proves a session:
	// neither the look of a page nor a status code.
	Probe func(ctx context.Context, p *Page) (SessionState, error)
	// Wall reports whether a response is the site's challenge against robots. Nil means that the site has none.
	Wall func(*governhttp.Response) bool
}

// SessionState is what a probe found: Live, SignedOut, Walled or Unknown.
type SessionState interface{ state() }

type (
	// Live is a session of that account, as the provider names it.
	Live struct{ Account string }
	// SignedOut means that the owner has to sign in.
	SignedOut struct{}
	// Walled means that the site wants a person to look at it.
	Walled struct{}
	// Unknown means that the provider could not be asked, or that its answer is inconclusive.
	Unknown struct{}
)

func (Live) state()      {}
func (SignedOut) state() {}
func (Walled) state()    {}
func (Unknown) state()   {}
