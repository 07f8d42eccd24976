package grants

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// Documents fetches the metadata documents of apps. Implementations reach public addresses only.
type Documents interface {
	// Fetch returns the body of a document and how long it may be kept.
	Fetch(ctx context.Context, address string) (body []byte, keep time.Duration, err error)
}

// Bounds of how long the document of an app is kept.
const (
	leastKept = 5 * time.Minute
	mostKept  = 24 * time.Hour
)

// isDocument reports whether a client id is the address of a metadata document.
func isDocument(id string) bool {
	u, err := url.Parse(id)
	return err == nil && u.Scheme == "https" && u.Host != "" && u.User == nil && u.Fragment == "" &&
		u.Path != "" && u.Path != "/" && !strings.Contains(u.Path, "/.") && len(id) <= maxAddress &&
		!strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' || r == '\\' })
}

// documentClient returns the app with a client id that is the address of its metadata document. The document is fetched
// again after its time, up to a day.
func (b *Service) documentClient(ctx context.Context, id string) (App, error) {
	now := b.now().UTC()
	c, err := b.store.OAuthClient(ctx, id, now)
	if err == nil && c.EndsAt.After(now) {
		return c, nil
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return App{}, fmt.Errorf("find client: %w", err)
	}
	refused := Refused(CodeInvalidClient, "client_id", "The metadata document of the app cannot be used.",
		"Publish it at the client_id over https, with the same client_id, a name and redirect_uris.")
	if b.Documents == nil {
		return App{}, refused
	}
	body, keep, err := b.Documents.Fetch(ctx, id)
	if err != nil {
		refused.Err = err
		return App{}, refused
	}
	var d struct {
		ID           string   `json:"client_id"`
		Name         string   `json:"client_name"`
		RedirectURIs []string `json:"redirect_uris"`
		Auth         string   `json:"token_endpoint_auth_method"`
	}
	if json.Unmarshal(body, &d) != nil || d.ID != id || d.Auth != "" && d.Auth != "none" {
		return App{}, refused
	}
	c = App{ID: id, RedirectURIs: d.RedirectURIs, CreatedAt: now,
		EndsAt: now.Add(min(max(keep, leastKept), mostKept))}
	// The host is the only part of the document that was verified, so that it comes first.
	u, err := url.Parse(id)
	if err != nil {
		return App{}, refused
	}
	if c.Name, err = shown("client_name", u.Hostname()+" ("+d.Name+")", maxName, true); err != nil {
		return App{}, err
	}
	if err := checkRedirects(c.RedirectURIs); err != nil {
		return App{}, err
	}
	if err := b.store.PutOAuthClient(ctx, c); err != nil {
		// Another request may have stored it at the same time.
		if c, err := b.store.OAuthClient(ctx, id, now); err == nil {
			return c, nil
		}
		return App{}, fmt.Errorf("keep client: %w", err)
	}
	return c, nil
}

// KeepFor returns how long an answer with these headers may be kept.
func KeepFor(h http.Header) time.Duration {
	for part := range strings.SplitSeq(h.Get("Cache-Control"), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch strings.ToLower(name) {
		case "no-store", "no-cache":
			return 0
		case "max-age":
			if keep, err := time.ParseDuration(strings.Trim(value, `"`) + "s"); err == nil {
				return min(keep, mostKept)
			}
		}
	}
	return mostKept
}
