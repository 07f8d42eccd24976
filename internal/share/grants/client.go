package grants

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// App is an app that may ask for grants. It has no secret: what proves it is that
// answers go to its own addresses, and PKCE.
type App = store.OAuthClient

const (
	maxRedirects = 10
	maxAddress   = 2048
)

// Unused registrations end, because any client can create one.
const (
	unusedClient   = 24 * time.Hour       // it has never asked for anything
	usedClient     = 30 * 24 * time.Hour  // after the newest request
	approvedClient = 365 * 24 * time.Hour // after the newest grant
)

// pushingClient begins the id of an app that pushes its requests.
const pushingClient = "cl_par_"

// MustPush reports whether an app has registered that it pushes every request (RFC 9126, 6). A request of it that was
// not pushed is not its own.
func MustPush(id string) bool { return strings.HasPrefix(id, pushingClient) }

// Register makes an app known, until it has not been used for a while.
func (b *Service) Register(ctx context.Context, name string, redirectURIs []string, mustPush bool) (App, error) {
	now := b.now().UTC()
	prefix := "cl_"
	if mustPush {
		prefix = pushingClient
	}
	c := App{ID: newID(prefix), RedirectURIs: redirectURIs, CreatedAt: now, EndsAt: now.Add(unusedClient)}
	var err error
	if c.Name, err = shown("client_name", name, maxName, true); err != nil {
		return App{}, err
	}
	if err := checkRedirects(redirectURIs); err != nil {
		return App{}, err
	}
	if err := b.store.PutOAuthClient(ctx, c); err != nil {
		return App{}, fmt.Errorf("keep client: %w", err)
	}
	return c, nil
}

// checkRedirects refuses addresses that a browser must not be sent to with a code.
func checkRedirects(addresses []string) error {
	if len(addresses) == 0 || len(addresses) > maxRedirects {
		return Refused(CodeInvalidRedirect, "redirect_uris",
			fmt.Sprintf("An app has between 1 and %d addresses to return to.", maxRedirects), "Send redirect_uris.")
	}
	if slices.ContainsFunc(addresses, func(u string) bool { return !returnable(u) }) {
		return Refused(CodeInvalidRedirect, "redirect_uris",
			"An address to return to is neither https nor on this machine.",
			"Use https, or http to 127.0.0.1, [::1] or localhost, without a fragment.")
	}
	return nil
}

// Client finds an app by its id, which may be the address of its metadata document.
func (b *Service) Client(ctx context.Context, id string) (App, error) {
	if isDocument(id) {
		return b.documentClient(ctx, id)
	}
	c, err := b.store.OAuthClient(ctx, id, b.now().UTC())
	if errors.Is(err, store.ErrNotFound) {
		return App{}, Refused(CodeInvalidClient, "client_id",
			"The app is not registered here, or was not used for so long that it was forgotten.", "Register it first.")
	}
	if err != nil {
		return App{}, fmt.Errorf("find client: %w", err)
	}
	return c, nil
}

// CheckRedirect refuses an address to return to that the app has not registered. On the loopback address any port is
// the same, because a program cannot choose a free one beforehand (RFC 8252).
func CheckRedirect(c App, address string) error {
	if slices.Contains(c.RedirectURIs, address) || slices.ContainsFunc(c.RedirectURIs, func(registered string) bool {
		return isDocument(c.ID) && withoutLoopbackPort(registered) != "" &&
			withoutLoopbackPort(registered) == withoutLoopbackPort(address)
	}) {
		return nil
	}
	return Refused(CodeInvalidRedirect, "redirect_uri",
		"The address to return to is not one that the app registered.", "Use exactly one of its redirect_uris.")
}

// withoutLoopbackPort returns an address on this machine without its port; empty for any other.
func withoutLoopbackPort(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" || !returnable(address) {
		return ""
	}
	u.Host = u.Hostname()
	return u.String()
}

// clientUsed puts off when an app is forgotten. One that is gone already stays so.
func (b *Service) clientUsed(ctx context.Context, id string, approved bool, now time.Time) error {
	if isDocument(id) {
		return nil // its end is when the document is fetched again
	}
	life := usedClient
	if approved {
		life = approvedClient
	}
	err := b.store.ExtendOAuthClient(ctx, id, now.Add(life), approved, now)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("note the use of a client: %w", err)
	}
	return nil
}

// returnable reports whether a browser may be sent to an address with a code: only over TLS or on the same machine.
func returnable(address string) bool {
	u, err := url.Parse(address)
	if err != nil || len(address) > maxAddress || u.Host == "" || u.Hostname() == "" || u.User != nil || u.Opaque != "" ||
		strings.Contains(address, "#") {
		return false
	}
	if strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r > '~' || r == '\\' }) {
		return false
	}
	switch u.Scheme {
	case "https":
		return true
	case "http":
		ip := net.ParseIP(u.Hostname())
		return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	}
	return false
}
