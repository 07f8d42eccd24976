package grants

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"pdpp/internal/store"
)

// Client is an app that may ask for grants. It has no secret: what proves it is that
// answers go to its own addresses, and PKCE.
type Client struct {
	ID           string    `json:"client_id"`
	Name         string    `json:"client_name"`
	RedirectURIs []string  `json:"redirect_uris"`
	CreatedAt    time.Time `json:"created_at"`
}

const (
	clientSetting = "oauth_client:"
	maxRedirects  = 10
	maxAddress    = 2048
)

// Register makes an app known.
func (b *Book) Register(ctx context.Context, name string, redirectURIs []string) (Client, error) {
	now := b.now().UTC()
	c := Client{ID: newID("cl_"), RedirectURIs: redirectURIs, CreatedAt: now}
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
	kept, err := json.Marshal(c)
	if err != nil {
		return Client{}, fmt.Errorf("write client: %w", err)
	}
	if err := b.store.PutSetting(ctx, clientSetting+c.ID, kept, now); err != nil {
		return Client{}, fmt.Errorf("keep client: %w", err)
	}
	return c, nil
}

// Client finds an app by its id.
func (b *Book) Client(ctx context.Context, id string) (Client, error) {
	kept, err := b.store.Setting(ctx, clientSetting+id)
	if errors.Is(err, store.ErrNotFound) {
		return Client{}, Refused(CodeInvalidClient, "client_id", "The app is not registered here.", "Register it first.")
	}
	if err != nil {
		return Client{}, fmt.Errorf("find client: %w", err)
	}
	var c Client
	if err := json.Unmarshal(kept, &c); err != nil {
		return Client{}, fmt.Errorf("read client: %w", err)
	}
	return c, nil
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
