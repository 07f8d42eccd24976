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
	// Cookie names the cookies of the session: a name, or the beginning of names before a
	// star. Without any of them nobody is signed in; while the owner signs in, a change of one is
	// the reason to probe. Empty means that only a probe can tell.
	Cookie string
	// Headers are those of the site's own API that requests may carry, besides the common
	// ones; what the browser says about itself it says alone.
	Headers []string
	// Probe asks the provider's own API who is signed in, with one request by Page.Fetch.
	// Nothing else proves a session: neither the page's looks nor a status alone.
	Probe func(ctx context.Context, p *Page) (State, error)
	// Wall says that an answer is the site's wall against robots; nil means that there is none.
	Wall func(*governhttp.Response) bool
}

// State is what a probe found: Live, SignedOut, Walled or Unknown.
type State interface{ state() }

type (
	// Live is a session of that account, as the provider names it.
	Live struct{ Account string }
	// SignedOut means that the owner has to sign in.
	SignedOut struct{}
	// Walled means that the site wants a person to look at it.
	Walled struct{}
	// Unknown means that the provider could not be asked, or gave an answer that says nothing.
	Unknown struct{}
)

func (Live) state()      {}
func (SignedOut) state() {}
func (Walled) state()    {}
func (Unknown) state()   {}
