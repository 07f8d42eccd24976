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

	"github.com/pdpp-go/pdpp/internal/keep/store"
)

// Client is an app that may ask for grants. It has no secret: what proves it is that
// answers go to its own addresses, and PKCE.
type Client = store.OAuthClient

const (
	maxRedirects = 10
	maxAddress   = 2048
)

// A registration that nobody uses ends: anybody can make one.
const (
	unusedClient   = 24 * time.Hour       // it has never asked for anything
	usedClient     = 30 * 24 * time.Hour  // after the newest request
	approvedClient = 365 * 24 * time.Hour // after the newest grant
)

// Register makes an app known, until it has not been used for a while.
func (b *Service) Register(ctx context.Context, name string, redirectURIs []string) (Client, error) {
	now := b.now().UTC()
	c := Client{ID: newID("cl_"), RedirectURIs: redirectURIs, CreatedAt: now, EndsAt: now.Add(unusedClient)}
	var err error
	if c.Name, err = shown("client_name", name, maxName, true); err != nil {
		return Client{}, err
	}
	if len(redirectURIs) == 0 || len(redirectURIs) > maxRedirects {
		return Client{}, Refused(CodeInvalidRedirect, "redirect_uris", fmt.Sprintf("An app has between 1 and %d addresses to return to.", maxRedirects), "Send redirect_uris.")
	}
	if slices.ContainsFunc(redirectURIs, func(u string) bool { return !returnable(u) }) {
		return Client{}, Refused(CodeInvalidRedirect, "redirect_uris", "An address to return to is neither https nor on this machine.", "Use https, or http to 127.0.0.1, [::1] or localhost, without a fragment.")
	}
	if err := b.store.PutOAuthClient(ctx, c); err != nil {
		return Client{}, fmt.Errorf("keep client: %w", err)
	}
	return c, nil
}

// Client finds an app by its id.
func (b *Service) Client(ctx context.Context, id string) (Client, error) {
	c, err := b.store.OAuthClient(ctx, id, b.now().UTC())
	if errors.Is(err, store.ErrNotFound) {
		return Client{}, Refused(CodeInvalidClient, "client_id", "The app is not registered here, or was not used for so long that it was forgotten.", "Register it first.")
	}
	if err != nil {
		return Client{}, fmt.Errorf("find client: %w", err)
	}
	return c, nil
}

// clientUsed puts off when an app is forgotten. One that is gone already stays so.
func (b *Service) clientUsed(ctx context.Context, id string, approved bool, now time.Time) error {
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

// returnable says whether a browser may be sent to an address with a code: only over
// an encrypted way, or without leaving the machine.
func returnable(address string) bool {
	u, err := url.Parse(address)
	if err != nil || len(address) > maxAddress || u.Host == "" || u.Hostname() == "" || u.User != nil || u.Opaque != "" || strings.Contains(address, "#") {
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
